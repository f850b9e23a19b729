const bullet = /\s*\*\s+/;

/**
 * What stands after a heading: one plain line beside it, anything else below it and further to the right. Where some lines are points of
 * a list and others are not, the others become points, and the points theirs.
 */
export const below = (text: string): string => {
  const lines = text.split('\n');
  if (lines.length === 1 && !bullet.test(text)) return ` ${text}`;
  const isList = lines.every((line) => bullet.test(line));
  const indented = (line: string): string => {
    if (isList) return `  ${line}`;
    return bullet.test(line) ? `    ${line}` : `  * ${line}`;
  };
  return `\n${lines.map(indented).join('\n')}`;
};
