import type { RunningProvider } from './provider.ts';

/** Providers, one after the other, each of which brings the next version of the agent: what an upgrade does in production. */
export interface Versions {
  /** Replaces the provider by the next one. Answers with the version of its agent. One at a time. */
  next(): Promise<string>;
  /** Rejects when a provider ends that nobody has stopped. */
  readonly broken: Promise<never>;
  stop(): Promise<void>;
}

export const createVersions = (start: (version: string) => Promise<RunningProvider>): Versions => {
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(() => {});
  let number = 0;
  let current: RunningProvider | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  const stopCurrent = async (): Promise<void> => {
    const old = current;
    current = undefined;
    await old?.stop();
  };
  const inTurn = <T>(what: () => Promise<T>): Promise<T> => {
    const done = turn.then(what);
    turn = done.catch(() => {});
    return done;
  };

  return {
    broken,
    next: () =>
      inTurn(async () => {
        await stopCurrent();
        number += 1;
        const version = `0.${number}.0`;
        const started = await start(version);
        current = started;
        void started.ended.then((result) => {
          if (current !== started) return;
          reject(new Error(result.ok ? 'the provider has ended' : `the provider has ended: ${result.reason}`));
        });
        return version;
      }),
    stop: () => inTurn(stopCurrent),
  };
};
