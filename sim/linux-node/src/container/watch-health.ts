import type { Clock } from '@tartan/kube/clock';
import type { Container, Probe } from '../pod/pod.ts';
import { followProbe, type HTTPProbe } from './follow-probe.ts';

export interface Health {
  readonly clock: Clock;
  readonly podIP: string;
  readonly signal: AbortSignal;
  /** What a probe's second is worth, in milliseconds. */
  readonly secondMs: number;
  readonly onStarted: () => void;
  readonly onReady: (ready: boolean) => void;
  /** Alive no longer: has to be killed. */
  readonly onDead: () => void;
}

/** With what Kubernetes fills in for those who do not say. `undefined`: there is no such probe. */
const httpProbe = (
  { ports = [] }: Container,
  probe: Probe | undefined,
  { podIP, secondMs }: Health,
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
    // Of real seconds: whoever answers is as slow as this machine.
    timeoutMs: (probe.timeoutSeconds ?? 1) * 1000,
    successThreshold: probe.successThreshold ?? 1,
    failureThreshold: probe.failureThreshold ?? 3,
  };
};

/** The probes of a container that runs, in the order of a kubelet: the others begin when it has started. */
export const watchHealth = async (container: Container, health: Health): Promise<void> => {
  const { clock, signal, onStarted, onReady, onDead } = health;
  const [startup, readiness, liveness] = [
    container.startupProbe,
    container.readinessProbe,
    container.livenessProbe,
  ].map((probe) => httpProbe(container, probe, health));
  if (startup) {
    const over = new AbortController();
    await followProbe(startup, clock, AbortSignal.any([signal, over.signal]), (passes) => {
      over.abort();
      if (!passes) onDead();
    });
  }
  if (signal.aborted) return;
  onStarted();
  if (!readiness) onReady(true);
  await Promise.all([
    readiness && followProbe(readiness, clock, signal, onReady),
    liveness && followProbe(liveness, clock, signal, (passes) => passes || onDead()),
  ]);
};
