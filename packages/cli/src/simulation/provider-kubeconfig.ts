import type { ControlPlane } from './control-plane.ts';
import { providerAccount } from './furnish.ts';
import { writeKubeconfig } from './process-kubeconfig.ts';

/** For the provider, as its own account. */
export const writeProviderKubeconfig = (plane: ControlPlane, folder: string): Promise<string> =>
  writeKubeconfig(plane, folder, { account: providerAccount, name: 'provider' });
