import { get } from 'node:http';
import { type Clock, sleep } from '@tartan/kube/clock';

export interface HTTPProbe {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly initialDelayMs: number;
  readonly periodMs: number;
  readonly timeoutMs: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

/** As the kubelet judges: 200 to 399 is good. */
const ask = ({ host, port, path, timeoutMs }: HTTPProbe, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const ends = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const request = get({ host, port, path, signal: ends, agent: false }, (response) => {
      response.resume();
      const code = response.statusCode ?? 0;
      resolve(code >= 200 && code < 400);
    });
    request.once('error', () => resolve(false));
  });

/** Asks again and again until `signal` fires, and tells each time that the same answer came as often as it has to. */
export const followProbe = async (
  probe: HTTPProbe,
  clock: Clock,
  signal: AbortSignal,
  tell: (passes: boolean) => void,
): Promise<void> => {
  let last: boolean | undefined;
  let times = 0;
  await sleep(clock, probe.initialDelayMs, signal);
  while (!signal.aborted) {
    const passes = await ask(probe, signal);
    times = passes === last ? times + 1 : 1;
    last = passes;
    if (!signal.aborted && times >= (passes ? probe.successThreshold : probe.failureThreshold)) tell(passes);
    await sleep(clock, probe.periodMs, signal);
  }
};
