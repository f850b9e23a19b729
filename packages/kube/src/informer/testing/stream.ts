import { KubeError } from '../../errors/kube-error.ts';

/** A watch seen from the server: what is pushed comes out at the other end, until it ends or breaks. */
export interface Stream<E> {
  push(event: E): void;
  /** The other end sees what has been pushed, then the end. */
  end(): void;
  /** What has not been read yet is lost. */
  break(error: Error): void;
  read(signal: AbortSignal): AsyncGenerator<E, void, undefined>;
}

export const createStream = <E>(): Stream<E> => {
  const inbox: E[] = [];
  let ended = false;
  let broken: Error | undefined;
  let wake = (): void => {};
  return {
    push: (event) => {
      inbox.push(event);
      wake();
    },
    end: () => {
      ended = true;
      wake();
    },
    break: (error) => {
      inbox.length = 0;
      broken = error;
      wake();
    },
    read: async function* (signal) {
      const onAbort = (): void => wake();
      signal.addEventListener('abort', onAbort);
      try {
        for (;;) {
          if (signal.aborted) throw new KubeError('aborted', 'The caller gave up.');
          if (broken) throw broken;
          const event = inbox.shift();
          if (event !== undefined) yield event;
          else if (ended) return;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
};
