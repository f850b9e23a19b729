interface ModelRunner {
  readonly id: number;
  readonly name: string;
  busySince: number | undefined;
  /** A listener is connected. */
  isOnline: boolean;
}

/** For this long GitHub may not know that it has just assigned a job. */
const staleMs = 60_000;

/** GitHub, as far as pools need it. While it lies, it shows a runner with a new job as idle, and removes it on request. */
export const modelGitHub = () => {
  let ids = 0;
  const runners = new Map<number, ModelRunner>();
  const state = { isOut: false, isLying: false, queued: 0 };
  const showsBusy = ({ busySince }: ModelRunner, now: number): boolean =>
    busySince !== undefined && !(state.isLying && now - busySince < staleMs);

  return {
    state,
    runners,
    mint: (name: string): number | 'name taken' | 'problem' => {
      if (state.isOut) return 'problem';
      if ([...runners.values()].some((runner) => runner.name === name)) return 'name taken';
      const id = (ids += 1);
      runners.set(id, { id, name, busySince: undefined, isOnline: false });
      return id;
    },
    find: (name: string): number | undefined => [...runners.values()].find((runner) => runner.name === name)?.id,
    get: (id: number, now: number): 'idle' | 'busy' | 'none' | 'problem' => {
      if (state.isOut) return 'problem';
      const runner = runners.get(id);
      if (runner === undefined) return 'none';
      return showsBusy(runner, now) ? 'busy' : 'idle';
    },
    remove: (id: number, now: number): 'removed' | 'busy' | 'none' | 'problem' => {
      if (state.isOut) return 'problem';
      const runner = runners.get(id);
      if (runner === undefined) return 'none';
      if (showsBusy(runner, now)) return 'busy';
      runners.delete(id);
      return 'removed';
    },
    /** As a list shows it. Undefined: the API does not answer. */
    isOffline: (id: number, now: number): boolean | undefined => {
      if (state.isOut) return undefined;
      const runner = runners.get(id);
      return runner === undefined || (!runner.isOnline && !showsBusy(runner, now));
    },
    connect: (id: number): void => {
      const runner = runners.get(id);
      if (runner !== undefined) runner.isOnline = true;
    },
    /** Whether a connected runner gets a job. GitHub assigns jobs even while its API does not answer. */
    give: (id: number, now: number): boolean => {
      const runner = runners.get(id);
      if (state.queued === 0 || runner === undefined || runner.busySince !== undefined) return false;
      state.queued -= 1;
      runner.busySince = now;
      return true;
    },
  };
};

export type ModelGitHub = ReturnType<typeof modelGitHub>;
