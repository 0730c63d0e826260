// What has which colour, as ROLES of figures/theme.py has it; a test holds the two together.

export const ROLES = {
  query: "#0072B2",
  key: "#D55E00",
  value: "#009E73",
  score: "#8571CC",
  weight: "#BC3A79",
  hidden: "#9AA0A6",
  reference: "#9AA0A6",
  changed: "#B8860B",
  MHA: "#3B8EA5",
  GQA: "#5B8C3A",
  MQA: "#A0522D",
  MLA: "#6A5ACD",
};
