import { secretKeys } from '@tartan/api';
import { createLruCache, keyOf } from '@tartan/kube';
import type { Informers } from '../controller-deps.ts';
import type { HostSettings } from '../host-work/host-settings.ts';
import { fleetRevision } from '../host-work/host-spec.ts';

/** More fleets than a manager has. Those of deleted fleets go when others need the place. */
const maxRevisions = 1000;

/**
 * The revision of each fleet, by all that it depends on besides the settings of this process: fleets are reconciled often, and hashing the
 * scripts is slow. Sends no request: the Secret with the key of the tailnet is watched.
 */
export const createFleetRevisions = (
  { tailscaleSecrets }: Partial<Pick<Informers, 'tailscaleSecrets'>>,
  settings: HostSettings,
  namespace: string,
) => {
  const revisions = createLruCache<string>(maxRevisions);
  const keyVersion = (): string | undefined => {
    const name = settings.tailscale?.authKeySecretName;
    const secret = name === undefined ? undefined : tailscaleSecrets?.get(keyOf({ namespace, name }));
    return secret?.data?.[secretKeys.tailscale.authKey] === undefined ? undefined : secret.metadata.resourceVersion;
  };
  return async (fleet: string): Promise<string> => {
    const tailscaleKeyVersion = keyVersion();
    const key = JSON.stringify([fleet, tailscaleKeyVersion]);
    const known = revisions.get(key) ?? fleetRevision(settings, { fleet, tailscaleKeyVersion });
    revisions.set(key, known);
    return known;
  };
};
