/** What an expression asks for: series, by which of their labels, and by which labels it groups or joins them. */
export interface Selectors {
  readonly series: readonly { readonly metric: string; readonly labels: readonly string[] }[];
  readonly groupedBy: readonly string[];
}

const keywords = new Set(['and', 'or', 'unless', 'by', 'on', 'bool', 'offset']);

const wordsOf = (list: string): string[] => list.match(/\w+/g) ?? [];

/** As much of PromQL as the rules use: `promtool check rules` reads all of it. */
export const selectorsIn = (expression: string): Selectors => {
  const grouping = /\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g;
  const groupedBy = [...expression.matchAll(grouping)].flatMap(([, list = '']) => wordsOf(list));
  const rest = expression.replaceAll(grouping, '').replaceAll(/\[[^\]]*\]/g, '');
  const series = [...rest.matchAll(/\b([a-zA-Z_]\w*)\b(?!\s*\()\s*(?:\{([^}]*)\})?/g)]
    .filter(([, metric = '']) => !keywords.has(metric))
    .map(([, metric = '', matchers = '']) => ({
      metric,
      labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"[^"]*"/g)].map(([, label = '']) => label),
    }));
  return { series, groupedBy };
};
