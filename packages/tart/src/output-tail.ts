/** The end of what a program writes, at most `cap` characters of it: the reason for a failure stands there. */
export interface OutputTail {
  add(text: string): void;
  text(): string;
}

export const createOutputTail = (cap: number): OutputTail => {
  let kept = '';
  return {
    add: (text) => {
      kept = (kept + text).slice(-cap);
    },
    text: () => kept,
  };
};
