import { repository } from './images.ts';

export const namespace = 'tartan';
export const release = 'tartan';
export const clusterName = `${release}-capi`;
export const fleets = { macos: `${release}-macos-fleet`, runners: `${release}-runners-fleet` } as const;
export const scalewaySecret = 'tartan-scaleway';

/** A tree of values, as a user writes it into a file. */
export interface Values {
  readonly [key: string]: unknown;
}

const isTree = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Like helm merges files: trees are merged, everything else is replaced. */
export const merged = (below: Values, above: Values): Values => ({
  ...below,
  ...Object.fromEntries(
    Object.entries(above).map(([key, value]) => {
      const under = below[key];
      return [key, isTree(value) && isTree(under) ? merged(under, value) : value];
    }),
  ),
});

/** Nothing here takes longer than some seconds, so intervals are shorter than in production. */
const impatient = [
  '--inventory-interval=2s',
  '--host-poll-interval=500ms',
  '--orphan-reclaim-interval=5s',
  '--tartkubelet-max-update-attempts=1',
  // All Pods share the network of this machine, except for their addresses.
  '--metrics-bind-address=$(POD_IP):8080',
  '--health-probe-bind-address=$(POD_IP):8081',
];

const fleet = { enabled: true, replicas: 0, machine: { type: 'M2-L', zone: 'fr-par-1', os: 'Tahoe' } };

/** The start of docs/install.md: everything except Macs. */
export const firstValues = ({ apiServerURL, scalewayURL }: { apiServerURL: string; scalewayURL: string }): Values => ({
  provider: {
    image: { repository, tag: '0.1.0' },
    extraArgs: impatient,
    extraEnv: [{ name: 'SCW_API_URL', value: scalewayURL }],
  },
  scaleway: { secretName: scalewaySecret },
  apiServerURL,
  // There is no Service network here.
  capi: { server: apiServerURL },
  macosFleet: fleet,
  runnersFleet: fleet,
});
