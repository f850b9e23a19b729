import type { CallOptions } from '../client/client.ts';
import type { Clock } from '../clock/index.ts';
import { KubeError } from '../errors/kube-error.ts';

/**
 * One API call that is over after that time by our own clock, even if the client does not keep to its deadline. The request may
 * still be carried out later: whoever calls must not conclude that it was not.
 */
export const withDeadline = <T>(
  clock: Clock,
  deadlineMs: number,
  call: (options: CallOptions & { signal: AbortSignal; deadlineMs: number }) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const controller = new AbortController();
    const giveUp = (error: KubeError): void => {
      finish();
      controller.abort(error);
      reject(error);
    };
    const stop = (): void =>
      giveUp(new KubeError('aborted', 'The call to the API server was given up: we are stopping.'));
    const takeBack = clock.after(deadlineMs, () =>
      giveUp(new KubeError('timeout', `The API server did not answer within ${Math.round(deadlineMs)} ms.`)),
    );
    const finish = (): void => {
      takeBack();
      signal?.removeEventListener('abort', stop);
    };
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) return stop();
    const settle = async (): Promise<void> => {
      try {
        resolve(await call({ signal: controller.signal, deadlineMs }));
      } catch (error) {
        reject(error);
      } finally {
        finish();
      }
    };
    void settle();
  });
