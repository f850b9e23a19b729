import { randomUUID } from 'node:crypto';
import { createLogger, createRedactor, type ManagerResult } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { createProvider, loadHostSettings, parseFlags, type ProviderDeps } from '@tartan/provider';
import { type ControlPlane, type MacPool, providerFlags } from '@tartan/sim-fleet';

export interface RunningProvider {
  /** Resolves when it has ended by itself or was stopped. */
  readonly ended: Promise<ManagerResult>;
  /** Gives the lease back and leaves nothing under way. */
  stop(): Promise<ManagerResult>;
}

export interface ProviderSetup {
  readonly controlPlane: Pick<ControlPlane, 'transport' | 'url' | 'ca'>;
  readonly macs: Pick<MacPool, 'pool'>;
  /** What it is told beside where it is: what to put on Macs, at least. */
  readonly flags: readonly string[];
  readonly intervals?: ProviderDeps['intervals'];
  /** Gets the lines of its log. */
  readonly write?: (line: string) => void;
}

/** The provider in this process, told by flags as it is in production. */
export const startProvider = async (setup: ProviderSetup): Promise<RunningProvider> => {
  const { controlPlane, macs, flags, intervals, write = () => {} } = setup;
  const parsed = parseFlags([...providerFlags, ...flags], {});
  if (!('options' in parsed)) throw new Error('errors' in parsed ? parsed.errors.join('\n') : parsed.help);
  const { options } = parsed;
  const redactor = createRedactor();
  const stopping = new AbortController();
  const provider = createProvider({
    options,
    transport: controlPlane.transport,
    apiHost: new URL(controlPlane.url).host,
    ca: controlPlane.ca,
    pool: macs.pool,
    settings: await loadHostSettings(options),
    clock: systemClock,
    random: Math.random,
    log: createLogger({ ...options.log, write, clock: systemClock, redact: redactor }),
    redactor,
    identity: `tartan-up_${randomUUID()}`,
    ...(intervals && { intervals }),
  });
  const ended = provider.run(stopping.signal);
  return {
    ended,
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
};
