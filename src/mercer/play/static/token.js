// The token that proves to the server that this page is its own. It came with the address that was printed.
//
// It is kept for this tab only. A link that is opened in another tab has none, and asks the tabs that are open already:
// only pages of the same origin hear each other.

const KEY = "mercer-token";
const PATIENCE = 400; // milliseconds

/** Take the token out of the address bar, so that a shared address never holds it. */
function taken() {
  const address = new URL(location.href);
  const given = address.searchParams.get("token");
  if (given) {
    sessionStorage.setItem(KEY, given);
    address.searchParams.delete("token");
    history.replaceState(history.state, "", address);
  }
  return given ?? sessionStorage.getItem(KEY);
}

const tabs = new BroadcastChannel(KEY);
let own = taken();

function asked() {
  return new Promise((resolve) => {
    const giveUp = setTimeout(() => resolve(""), PATIENCE);
    tabs.addEventListener("message", ({ data }) => {
      if (!data.token) return;
      clearTimeout(giveUp);
      sessionStorage.setItem(KEY, data.token);
      resolve(data.token);
    });
    tabs.postMessage({ wanted: true });
  });
}

tabs.addEventListener("message", ({ data }) => {
  if (data.wanted && typeof own === "string" && own) tabs.postMessage({ token: own });
});

/** The token, or nothing where no tab knows it. */
export async function token() {
  own ??= await asked();
  return own;
}
