// Words to begin with: each example has a lesson that its kernel shows.

const list = (text) => text.trim().split(/\s*,\s*/);

export const EXAMPLES = [
  {
    title: "English or Italian",
    names: ["English", "Italian"],
    words: [
      list("house, water, night, window, street, mother, brother, weather, summer, light, bridge, thought, kitchen, whisper, shoulder, north"),
      list("casa, acqua, notte, finestra, strada, madre, fratello, tempo, estate, luce, ponte, pensiero, cucina, sussurro, spalla, nord"),
    ],
    kernel: "normalised(spectrum(p=2))",
    asked: "spaghetti",
    lesson: "Pairs of letters are enough to hear a language: “th” and “er” against “ll” and “no”. Spaghetti it mistakes, for its “gh”: add “funghi” and “laghetto” to the Italian words.",
  },
  {
    title: "DNA with TATA or without",
    names: ["without", "with TATA"],
    words: [
      list("GCATGCTACGGA, CGGATCCGTACC, ACGTTGCAGGCT, GGCTAACGTCAG, CCAGTTGACGTA, GATCCGATTGCA, TTGCAGGCATCG, CAGTCCGTAAGG"),
      list("GCTATAAGCGGA, CGGCTATAACCC, ACGTATAAGGCT, GGCTATATGCAG, CTATAAGACGTA, GATCCTATAGCA, TTGCTATAATCG, CATATAGTAAGG"),
    ],
    kernel: "spectrum(p=4)",
    asked: "GGTATAACCGTC",
    lesson: "A motif may stand anywhere in a sequence: the spectrum counts it wherever it is.",
  },
  {
    title: "Notes, glad or sad",
    names: ["sad", "glad"],
    words: [
      list("it rained all day, we lost the game again, the train was late and cold, nobody came to the party, i lost my keys again, all day alone and cold"),
      list("the sun came out, we won the game, friends came to the party, a warm day by the sea, i found my keys, the party was warm and bright"),
    ],
    kernel: "normalised(spectrum(p=1, tokens='words'))",
    asked: "a warm and bright day",
    lesson: "Tokens may be words: the same kernel then compares sentences by the words that they share.",
    phrases: true,
  },
];
