/**
 * A shell script without its comments and blank lines: what its hash is made of, so that a better comment rolls no fleet (G-32).
 *
 * Lines inside a quoted string or a here-document stay, whatever they begin with: they end up on hosts.
 * In doubt a line stays. A script of which this cannot see the end of a string or document is refused.
 */
export const significantText = (script: string): string => {
  const kept: string[] = [];
  let quoted: Quote = 'none';
  let document: string | undefined;
  for (const line of script.split('\n')) {
    if (document !== undefined) {
      kept.push(line);
      if (line.replace(/^\t+/, '') === document) document = undefined;
      continue;
    }
    if (quoted === 'none' && /^\s*(#|$)/.test(line)) continue;
    kept.push(line);
    const end = quoteAfter(line, quoted);
    if (quoted === 'none') document = /<<-?\s*(['"]?)(\w+)\1/.exec(line)?.[2];
    quoted = end;
  }
  if (quoted !== 'none' || document !== undefined) throw new SyntaxError('a string or here-document has no end');
  return kept.join('\n');
};

type Quote = 'none' | "'" | '"';

/** Whether a string that began on this line, or before it, goes on after it. */
const quoteAfter = (line: string, before: Quote): Quote => {
  let quote = before;
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at);
    if (character === '\\' && quote !== "'") at++;
    else if (quote === 'none' && character === '#' && /\s|^$/.test(line.charAt(at - 1))) return quote;
    else if (character === quote) quote = 'none';
    else if (quote === 'none' && (character === "'" || character === '"')) quote = character;
  }
  return quote;
};
