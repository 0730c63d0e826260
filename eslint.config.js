// Faults that types do not catch. How the code looks is prettier's.

import js from "@eslint/js";
import globals from "globals";

const strict = {
  eqeqeq: "error",
  "no-var": "error",
  "prefer-const": "error",
  "no-implicit-globals": "error",
  "no-shadow": "error",
  "no-unsanitized-sinks/no-markup": "error",
  "array-callback-return": "error",
  "consistent-return": "error",
  "no-promise-executor-return": "error",
  "no-self-compare": "error",
  "no-unmodified-loop-condition": "error",
  "no-template-curly-in-string": "error",
  "require-atomic-updates": "error",
  "no-eval": "error",
  "no-implied-eval": "error",
  "no-new-func": "error",
  complexity: ["error", 18],
  "max-lines": ["error", { max: 400, skipBlankLines: true, skipComments: true }],
  "max-params": ["error", 8],
};

/** Text that visitors typed must never be read as markup. */
const markup = {
  rules: {
    "no-markup": {
      create: (context) => ({
        Identifier(node) {
          if (/^(innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|setHTMLUnsafe)$/.test(node.name)) {
            context.report({ node, message: `${node.name} reads text as markup; use textContent or append` });
          }
        },
      }),
    },
  },
};

export default [
  { ignores: ["attnviz/canvas/bundles/**", "attnviz/site/bundle/**", ".venv/**", "node_modules/**"] },
  js.configs.recommended,
  { plugins: { "no-unsanitized-sinks": markup }, rules: strict },
  {
    files: ["attnviz/canvas/**/*.js", "attnviz/serve/*.js", "attnviz/site/**/*.js"],
    languageOptions: { globals: globals.browser },
  },
  { files: ["scripts/*.mjs", "tests/js/**/*.js", "*.config.js"], languageOptions: { globals: globals.node } },
];
