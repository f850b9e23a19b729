/** A tree of values, as a user writes it into a file. */
export interface Values {
  readonly [key: string]: unknown;
}

export const fleetKeys = ['macosFleet', 'runnersFleet', 'buildersFleet'] as const;
export type FleetKey = (typeof fleetKeys)[number];

/** The required values of a fleet. */
const least: Readonly<Record<FleetKey, Values>> = {
  macosFleet: { enabled: true },
  runnersFleet: { enabled: true },
  buildersFleet: {
    enabled: true,
    ghOrg: 'tuist',
    ghAppSecretName: 'builders-app',
    ghRunnerLabels: 'self-hosted,macos,production',
  },
};

/** One fleet, with further values. */
export const fleetWith = (key: FleetKey, more: Values = {}): Values => ({ [key]: { ...least[key], ...more } });

export const allFleets: Values = { ...least };

/** The names of the original's fleets, and its setting for the sweep (tuist/tuist#11056). */
export const production: Values = {
  fullnameOverride: 'tuist-tuist',
  apiServerURL: 'https://api.example.com:6443',
  scaleway: { secretName: 'scaleway-api' },
  macosFleet: { ...least.macosFleet, replicas: 6, machine: { hostCPU: 10, hostMemoryMB: 14_336 } },
  runnersFleet: { ...least.runnersFleet, replicas: 11, waitForMacs: false },
  buildersFleet: { ...least.buildersFleet, replicas: 1 },
  runnersController: { enabled: true, replicas: 2, githubApiUrl: 'https://github.example.com/api/v3' },
  capi: { remoteKubeconfig: { externalSecrets: { enabled: true } } },
  tailscale: { enabled: true, secretName: 'tailnet', tags: ['tag:tuist-macmini', 'tag:production'] },
  vmClusterEgress: { kuraServiceCIDR: '10.96.0.0/16', clusterDNSIP: '10.96.0.10' },
  fleetSpread: { deployment: 'xcresult-processor', namespace: 'tuist' },
  alerts: { enabled: true, labels: { release: 'prometheus' } },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
};

export const externalSecrets: Values = { capi: { remoteKubeconfig: { externalSecrets: { enabled: true } } } };

export const runners: Values = { ...fleetWith('runnersFleet'), runnersController: { enabled: true } };

export const withoutCapi: Values = { ...production, capi: { enabled: false } };

/** By their names in tests. */
export const valueSets: Readonly<Record<string, Values>> = {
  'nothing but defaults': {},
  production,
  'all fleets': allFleets,
  'External Secrets': externalSecrets,
  runners,
};
