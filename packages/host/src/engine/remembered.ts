/** A function of one text that works each answer out once. For texts of which there are few: scripts, which do not change while we run. */
export const remembered = (work: (text: string) => string): ((text: string) => string) => {
  const answers = new Map<string, string>();
  return (text) => {
    const answer = answers.get(text) ?? work(text);
    answers.set(text, answer);
    return answer;
  };
};
