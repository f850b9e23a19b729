import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminKubeconfig, createKubernetes, serve } from '@tartan/sim-kubernetes';
import { type Access, formatKubeconfig, startControlPlane } from '@tartan/tools-kubernetes';
import type { KubectlTarget } from './run-script.ts';

/** The real server and the embedded one, both new, and one kubectl for both. */
export interface Servers {
  real: KubectlTarget;
  embedded: KubectlTarget;
  stop(): Promise<void>;
}

export const startServers = async (): Promise<Servers> => {
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    // Not the shared one: the script lists nodes and namespaces, and expects only its own.
    const controlPlane = await startControlPlane({
      controllerManager: true,
      // This controller annotates every Node with a TTL for kubelets' caches of Secrets. It is not used here.
      controllerManagerFlags: ['--controllers=*,bootstrap-signer-controller,token-cleaner-controller,-ttl-controller'],
      scheduler: true,
    });
    stops.push(controlPlane.stop);
    const kubernetes = await createKubernetes();
    stops.push(async () => kubernetes.stop());
    const served = await serve(kubernetes);
    stops.push(served.close);
    // Its folder is deleted with the control plane, even when the tests are interrupted.
    const { dir } = controlPlane;
    const embeddedKubeconfig = join(dir, 'embedded.kubeconfig');
    writeFileSync(embeddedKubeconfig, await adminKubeconfig(kubernetes.identity, served.url), { mode: 0o600 });
    const { kubectl } = controlPlane.binaries;
    return {
      real: targetOf(kubectl, controlPlane, controlPlane.adminKubeconfigPath, join(dir, 'kubectl-real')),
      embedded: targetOf(
        kubectl,
        { url: served.url, caCertificate: kubernetes.identity.caCertificate },
        embeddedKubeconfig,
        join(dir, 'kubectl-embedded'),
      ),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Writes a second kubeconfig without credentials, for commands that pass a token. */
const targetOf = (
  kubectl: string,
  { url, caCertificate }: Pick<Access, 'url' | 'caCertificate'>,
  kubeconfig: string,
  home: string,
): KubectlTarget => {
  mkdirSync(home);
  writeFileSync(join(home, 'nobody.kubeconfig'), formatKubeconfig({ url, caCertificate }));
  return { kubectl, kubeconfig, home };
};
