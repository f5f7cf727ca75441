// A camera that looks at the cube [−1, 1]³: turned by yaw and pitch, with a little perspective.

const DISTANCE = 5.5;
const START = { yaw: -0.62, pitch: 0.4, zoom: 1 };

export function camera() {
  const state = { ...START };
  return {
    state,
    reset: () => Object.assign(state, START),
    look({ yaw, pitch, zoom }) {
      state.yaw = yaw;
      state.pitch = Math.min(1.5, Math.max(-0.25, pitch));
      state.zoom = Math.min(2.5, Math.max(0.5, zoom));
    },
    turn(across, up) {
      this.look({ ...state, yaw: state.yaw + across, pitch: state.pitch + up });
    },
    nearer(factor) {
      this.look({ ...state, zoom: state.zoom * factor });
    },
    /** A function from places [x, y, z] (z up) to { x, y, depth } in pixels; a larger depth is farther away. */
    view(width, height) {
      const [cy, sy] = [Math.cos(state.yaw), Math.sin(state.yaw)];
      const [cp, sp] = [Math.cos(state.pitch), Math.sin(state.pitch)];
      const scale = 0.25 * Math.min(width * 1.08, height * 1.3) * state.zoom;
      return ([x, y, z]) => {
        const across = cy * x - sy * y;
        const away = sy * x + cy * y;
        const up = cp * z + sp * away;
        const depth = cp * away - sp * z;
        const near = DISTANCE / (DISTANCE + depth);
        return { x: width / 2 + scale * near * across, y: 0.46 * height - scale * near * up, depth };
      };
    },
  };
}
