import type { Client } from '@tartan/kube';
import { fleetRevision } from '../host-work/fleet-revision.ts';
import type { HostSettings } from '../host-work/host-settings.ts';
import { readTailscaleKey } from '../host-work/tailscale-key.ts';

/** What the Macs of a fleet shall have in common, in one word. The key of the tailnet is read anew each time: somebody else writes it. */
export const fleetRevisionOf = (client: Pick<Client, 'get'>, settings: HostSettings, secretsNamespace: string) => {
  /** All that a revision hangs on, beside the settings of this process: fleets are looked at often, and scripts are long to hash. */
  const revisions = new Map<string, { readonly tailscaleKeyVersion: string | undefined; readonly revision: string }>();
  return async (fleet: string, signal: AbortSignal): Promise<string> => {
    const { tailscale } = settings;
    const where = tailscale && { namespace: secretsNamespace, name: tailscale.authKeySecretName };
    const key = where && (await readTailscaleKey(client, where, { signal }));
    const tailscaleKeyVersion = key?.kind === 'known' ? key.version : undefined;
    const known = revisions.get(fleet);
    if (known !== undefined && known.tailscaleKeyVersion === tailscaleKeyVersion) return known.revision;
    const revision = fleetRevision(settings, { fleet, tailscaleKeyVersion });
    revisions.set(fleet, { tailscaleKeyVersion, revision });
    return revision;
  };
};
