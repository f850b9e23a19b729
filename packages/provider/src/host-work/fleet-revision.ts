import { labels } from '@tartan/api';
import { type HostSpec, summaryHash } from '@tartan/host';
import type { HostSettings } from './host-settings.ts';

export interface FleetFacts {
  readonly fleet: string;
  /** As for `hostSpecOf`. Undefined also when the key cannot be read: then no Mac can be pushed to either. */
  readonly tailscaleKeyVersion: string | undefined;
}

/**
 * One word for what all Macs of a fleet have in common. Another word: there is something new to roll. What differs from Mac to Mac, such
 * as its name or its join credentials, is the same for all here, and what single machines say for themselves is left out.
 */
export const fleetRevision = (settings: HostSettings, { fleet, tailscaleKeyVersion }: FleetFacts): string => {
  const { agent, tart, vmEgress, tailscale, nodeExporter, builder } = settings;
  const spec: HostSpec = {
    user: 'user',
    nodeName: 'node',
    tart,
    vmEgress,
    ...(tailscale && {
      tailscale: {
        binaries: tailscale.binaries,
        tags: tailscale.tags,
        acceptRoutes: tailscale.acceptRoutes,
        authKeyVersion: tailscaleKeyVersion ?? '',
      },
    }),
    ...(nodeExporter && { nodeExporter }),
    agent: { ...agent, nodeLabels: { [labels.fleet]: fleet }, providerID: '', joinVersion: '' },
    ...(builder && { ghActionsRunner: { ...builder, org: '', labels: [] } }),
  };
  return summaryHash(spec);
};
