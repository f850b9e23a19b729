import { get } from 'node:http';
import { type Clock, sleep, systemClock } from '@tartan/kube/clock';
import type { Container, Probe } from '../pod/pod.ts';

interface HTTPProbe {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly initialDelayMs: number;
  readonly periodMs: number;
  readonly timeoutMs: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

/** Like the kubelet: 200 to 399 is success. */
const sendProbe = ({ host, port, path, timeoutMs }: HTTPProbe, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const request = get({ host, port, path, signal, agent: false }, (response) => {
      response.resume();
      const code = response.statusCode ?? 0;
      resolve(code >= 200 && code < 400);
    });
    const cancelTimer = systemClock.after(timeoutMs, () => void request.destroy());
    request
      .once('error', () => resolve(false))
      .once('close', () => {
        cancelTimer();
        resolve(false);
      });
  });

/** Probes repeatedly until `signal` fires, and reports a result each time its threshold is reached. */
const runProbe = async (
  probe: HTTPProbe,
  clock: Clock,
  signal: AbortSignal,
  onResult: (passes: boolean) => void,
): Promise<void> => {
  let last: boolean | undefined;
  let times = 0;
  await sleep(clock, probe.initialDelayMs, signal);
  while (!signal.aborted) {
    const passes = await sendProbe(probe, signal);
    times = passes === last ? times + 1 : 1;
    last = passes;
    if (!signal.aborted && times >= (passes ? probe.successThreshold : probe.failureThreshold)) onResult(passes);
    await sleep(clock, probe.periodMs, signal);
  }
};

interface ProbeOptions {
  readonly clock: Clock;
  readonly podIP: string;
  readonly signal: AbortSignal;
  /** Milliseconds per second of a probe's settings. */
  readonly secondMs: number;
  readonly onStarted: () => void;
  readonly onReady: (ready: boolean) => void;
  /** The liveness probe failed: the container must be killed. */
  readonly onDead: () => void;
}

/** With Kubernetes' defaults. `undefined`: there is no such probe. */
const httpProbe = (
  { ports = [] }: Container,
  probe: Probe | undefined,
  { podIP, secondMs }: ProbeOptions,
): HTTPProbe | undefined => {
  const asked = probe?.httpGet;
  if (probe === undefined || asked === undefined) return undefined;
  const port =
    typeof asked.port === 'number' ? asked.port : ports.find(({ name }) => name === asked.port)?.containerPort;
  return {
    host: asked.host ?? podIP,
    port: port ?? 0,
    path: asked.path ?? '/',
    initialDelayMs: (probe.initialDelaySeconds ?? 0) * secondMs,
    periodMs: (probe.periodSeconds ?? 10) * secondMs,
    // Real time, and much of it: a busy machine may take long to answer.
    timeoutMs: (probe.timeoutSeconds ?? 1) * 30_000,
    successThreshold: probe.successThreshold ?? 1,
    failureThreshold: probe.failureThreshold ?? 3,
  };
};

/** The probes of a running container, in the order of a kubelet: the others begin after the startup probe. */
export const runProbes = async (container: Container, health: ProbeOptions): Promise<void> => {
  const { clock, signal, onStarted, onReady, onDead } = health;
  const [startup, readiness, liveness] = [
    container.startupProbe,
    container.readinessProbe,
    container.livenessProbe,
  ].map((probe) => httpProbe(container, probe, health));
  if (startup) {
    const over = new AbortController();
    await runProbe(startup, clock, AbortSignal.any([signal, over.signal]), (passes) => {
      over.abort();
      if (!passes) onDead();
    });
  }
  if (signal.aborted) return;
  onStarted();
  if (!readiness) onReady(true);
  await Promise.all([
    readiness && runProbe(readiness, clock, signal, onReady),
    liveness && runProbe(liveness, clock, signal, (passes) => passes || onDead()),
  ]);
};
