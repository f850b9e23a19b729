/** How lists of machines are written for people. */

const mostNames = 10;

/** `a, b and 3 more`. */
export const named = (names: readonly string[], most = mostNames): string => {
  const shown = names.slice(0, most);
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
};

export const counted = (count: number, what = 'machine'): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** A sentence of what may be half of one. */
export const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
