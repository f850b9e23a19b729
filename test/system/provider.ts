import { randomUUID } from 'node:crypto';
import { createLogger, createRedactor, type ManagerResult } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { createProvider, loadHostSettings, parseFlags, type ProviderDeps } from '@tartan/provider';
import { type ControlPlane, type MacPool, providerFlags } from '@tartan/sim-fleet';

export interface RunningProvider {
  /** Resolves when it has ended by itself or was stopped. */
  readonly ended: Promise<ManagerResult>;
  /** Releases the lease and waits for all work. */
  stop(): Promise<ManagerResult>;
}

export interface ProviderSetup {
  readonly controlPlane: Pick<ControlPlane, 'transport' | 'url' | 'ca'>;
  readonly macs: Pick<MacPool, 'pool'>;
  /** Additional flags: at least the software for the Macs. */
  readonly flags: readonly string[];
  readonly intervals?: ProviderDeps['intervals'];
  /** Called with the lines of its log. */
  readonly write?: (line: string) => void;
}

/** The provider in this process, configured by flags as in production. */
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
