import { createLogger, createRedactor } from '@tartan/kube';
import type { Random } from '@tartan/kube/clock';
import { createHostPool } from '@tartan/scaleway';
import type { HostWork } from '../../packages/provider/src/host-work/host-work.ts';
import { hostSettingsWith } from '../../packages/provider/src/machine/testing/fakes.ts';
import { createProvider, type Provider } from '../../packages/provider/src/manager/create-provider.ts';
import { optionsWith } from '../../packages/provider/src/manager/testing/harness.ts';
import type { FaultyConnections } from './fault-injection.ts';

export const project = {
  projectID: '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87',
  secretKey: '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13',
  accessKey: 'SCWABCDEFGHIJKLMNOPQ',
};

/** Long intervals: each renewal is work, and virtual minutes pass at once. */
const election = [
  '--leader-elect-lease-duration=60s',
  '--leader-elect-renew-deadline=40s',
  '--leader-elect-retry-period=20s',
];

export interface ProviderOverrides {
  /** The version of the agent that it installs on Macs: agent and tart differ between versions. */
  readonly version: string;
  readonly flags?: readonly string[];
  /** Logs everything. */
  readonly verbose?: boolean;
}

export interface ProviderConnections extends ProviderOverrides {
  readonly connections: FaultyConnections;
  readonly hostWork: HostWork;
  readonly random: Random;
  readonly write: (line: string) => void;
}

/** The whole real manager; only its connections are those of the harness. */
export const createProviderWith = ({
  connections,
  hostWork,
  random,
  write,
  version,
  flags = [],
  verbose = false,
}: ProviderConnections): Provider => {
  const { clock, transport, fetch, identity } = connections;
  const redactor = createRedactor();
  const settings = hostSettingsWith(version);
  return createProvider({
    options: optionsWith('--metrics-bind-address=0', '--health-probe-bind-address=0', ...election, ...flags),
    transport,
    apiHost: 'in-process',
    ca: 'PEM',
    pool: createHostPool({ ...project, apiURL: 'http://127.0.0.1:1', fetch, clock, random, rate: 1000 }),
    settings: { ...settings, tart: { ...settings.tart, sha256: version.padEnd(64, 'a') } },
    hostWork,
    clock,
    random,
    log: createLogger({ write, clock, level: verbose ? 'debug' : 'info', redact: redactor }),
    redactor,
    identity,
  });
};
