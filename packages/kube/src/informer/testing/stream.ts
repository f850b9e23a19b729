import { KubeError } from '../../errors/kube-error.ts';

/** The server's side of a watch: pushed events reach the reader until the stream ends or breaks. */
export interface Stream<E> {
  push(event: E): void;
  /** The reader gets all pushed events, then the end. */
  end(): void;
  /** Unread events are lost. */
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
