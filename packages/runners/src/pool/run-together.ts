import type { Controller } from '@tartan/kube';

/** Several controllers as one. When one of them fails, the others stop, too. */
export const runTogether = (name: string, controllers: readonly Controller[]): Controller => ({
  name,
  ready: Promise.all(controllers.map(({ ready }) => ready)).then(() => undefined),
  get abandoned() {
    return controllers.flatMap(({ abandoned }) => [...abandoned]);
  },
  run: async (signal) => {
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const ends = await Promise.allSettled(
      controllers.map((controller) =>
        controller.run(either).catch((error: unknown) => {
          failed.abort();
          throw error;
        }),
      ),
    );
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  },
});
