import { readFileSync } from 'node:fs';

/** One call of the fake, as it was begun. */
export interface TartCall {
  readonly pid: number;
  /** Without the program: `['clone', 'a', 'b']`. */
  readonly argv: readonly string[];
  /** CI was set: progress comes in plain lines. */
  readonly ci: boolean;
  readonly registryUser: string | undefined;
  readonly autoPrune: boolean;
  /** How it ended; absent while it runs, and when a signal ended it. */
  readonly exitCode: number | undefined;
}

/** Every call of the fake in the order in which they began. */
export interface TartJournal {
  calls(command?: string): readonly TartCall[];
}

const recordsOf = (file: string): readonly (readonly string[])[] => {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return content
    .split('\u001e\n')
    .slice(0, -1)
    .map((record) => record.split('\u001f'));
};

export const createJournal = (file: string): TartJournal => ({
  calls: (command) => {
    const calls: (TartCall & { exitCode: number | undefined })[] = [];
    for (const [pid = '', what, ...fields] of recordsOf(file)) {
      if (what === 'start') {
        const [ci, user, prune, ...argv] = fields;
        calls.push({
          pid: Number(pid),
          argv,
          ci: ci !== '',
          registryUser: user === '' ? undefined : user,
          autoPrune: prune === '',
          exitCode: undefined,
        });
      } else {
        const call = calls.findLast((one) => one.pid === Number(pid) && one.exitCode === undefined);
        if (call !== undefined) Object.assign(call, { exitCode: Number(fields[0]) });
      }
    }
    return command === undefined ? calls : calls.filter(({ argv }) => argv[0] === command);
  },
});
