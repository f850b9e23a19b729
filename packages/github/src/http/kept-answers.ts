interface Kept {
  readonly etag: string;
  readonly body: unknown;
}

/** Answers that GitHub need not repeat as long as they are the same: its 304 costs nothing of the limit. */
export interface KeptAnswers {
  get(question: string): Kept | undefined;
  keep(question: string, kept: Kept): void;
}

/** Of 30 repositories with some runs each. The one that was not asked for the longest time goes first. */
const most = 500;

export const createKeptAnswers = (limit = most): KeptAnswers => {
  const answers = new Map<string, Kept>();
  const keep: KeptAnswers['keep'] = (question, kept) => {
    answers.delete(question);
    answers.set(question, kept);
    const [oldest] = answers.keys();
    if (answers.size > limit && oldest !== undefined) answers.delete(oldest);
  };
  return {
    get: (question) => {
      const found = answers.get(question);
      if (found !== undefined) keep(question, found);
      return found;
    },
    keep,
  };
};
