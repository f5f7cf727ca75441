// Graphs to begin with: each example has a lesson that its kernel shows.

const labels = (text) => [...text];
const along = (n) => Array.from({ length: n - 1 }, (_, k) => [k, k + 1]);

const chain = (text) => ({ nodes: labels(text), edges: along(text.length) });
const ring = (text) => ({ nodes: labels(text), edges: [...along(text.length), [text.length - 1, 0]] });
const made = (text, edges) => ({ nodes: labels(text), edges });
const titled = (title, graph) => ({ title, graph });

const count = [3, 4, 5, 6, 7, 8];

export const EXAMPLES = [
  {
    title: "Alcohols or ethers",
    names: ["alcohols", "ethers"],
    graphs: [
      [
        titled("methanol", chain("CO")),
        titled("ethanol", chain("CCO")),
        titled("propanol", chain("CCCO")),
        titled("isopropanol", made("CCCO", [[0, 1], [1, 2], [1, 3]])),
        titled("glycol", chain("OCCO")),
        titled("cyclopentanol", made("CCCCCO", [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [0, 5]])),
      ],
      [
        titled("dimethyl ether", chain("COC")),
        titled("ethyl methyl ether", chain("CCOC")),
        titled("diethyl ether", chain("CCOCC")),
        titled("tetrahydrofuran", ring("OCCCC")),
        titled("dioxane", ring("OCCOCC")),
        titled("dimethoxy ethane", chain("COCCOC")),
      ],
    ],
    kernel: "weisfeilerlehman(h=1)",
    asked: titled("butanol", chain("CCCCO")),
    lesson: "The same atoms, joined otherwise: oxygen at an end, or between two carbons. One round of refinement sees it.",
  },
  {
    title: "Rings or chains",
    names: ["rings", "chains"],
    graphs: [count.map((n) => titled(`ring of ${n}`, ring("C".repeat(n)))), count.map((n) => titled(`chain of ${n}`, chain("C".repeat(n))))],
    kernel: "normalised(weisfeilerlehman(h=2))",
    asked: titled("ring with a tail", made("CCCCCC", [[0, 1], [1, 2], [2, 3], [3, 0], [3, 4], [4, 5]])),
    lesson: "Every node of a ring has two neighbours; a chain has ends, and so has a ring with a tail. Take the tail away and ask again.",
  },
  {
    title: "Trees or triangles",
    names: ["trees", "with a triangle"],
    graphs: [
      [
        titled("star of 4", made("****", [[0, 1], [0, 2], [0, 3]])),
        titled("star of 6", made("******", [[0, 1], [0, 2], [0, 3], [0, 4], [0, 5]])),
        titled("path", chain("*****")),
        titled("fork", made("*****", [[0, 1], [1, 2], [2, 3], [2, 4]])),
        titled("binary tree", made("*******", [[0, 1], [0, 2], [1, 3], [1, 4], [2, 5], [2, 6]])),
        titled("double star", made("******", [[0, 1], [0, 2], [0, 3], [3, 4], [3, 5]])),
      ],
      [
        titled("triangle", ring("***")),
        titled("kite", made("****", [[0, 1], [1, 2], [2, 0], [2, 3]])),
        titled("bow tie", made("*****", [[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 2]])),
        titled("two on an edge", made("****", [[0, 1], [1, 2], [2, 0], [1, 3], [2, 3]])),
        titled("house", made("*****", [[0, 1], [1, 2], [2, 3], [3, 0], [2, 4], [3, 4]])),
        titled("sun", made("******", [[0, 1], [1, 2], [2, 0], [0, 3], [1, 4], [2, 5]])),
      ],
    ],
    kernel: "graphlet(size=3, scale='cosine')",
    asked: titled("four all joined", made("****", [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])),
    lesson: "Graphlets count parts of three nodes: a triangle among friends gives a circle of them away.",
  },
];
