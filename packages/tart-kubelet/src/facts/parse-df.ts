/**
 * How full `df -k` says that a file system is, in percent. A guest writes this text, and may write anything: `undefined` unless it is a
 * line of df with three numbers of blocks and their share. The share of inodes, further right on macOS, is another matter.
 */
export const parseUsedPercent = (text: string): number | undefined => {
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  const [, share] = /^\S.{0,512}? \d{1,18} +\d{1,18} +-?\d{1,18} +(\d{1,3})%(?: |$)/.exec(last.slice(0, 2048)) ?? [];
  const percent = Number(share ?? Number.NaN);
  return percent >= 0 && percent <= 100 ? percent : undefined;
};
