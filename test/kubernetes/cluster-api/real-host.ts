import { readFile } from 'node:fs/promises';
import { type Client, createClient, createSubresources, httpsTransport, type Subresources } from '@tartan/kube';
import { sleep, systemClock as clock } from '@tartan/kube/clock';
import type { Host } from '@tartan/sim-cluster-api/suite';
import { type OwnControlPlane, startControlPlane } from '@tartan/tools-kubernetes';

export interface Place {
  readonly controlPlane: OwnControlPlane;
  readonly client: Client;
  readonly subresources: Subresources;
}

/** Its own real control plane, since core's kinds are cluster-wide, with core or a stand-in for it. Returns how to stop it. */
export const realHost = async (startCore: (place: Place) => Promise<() => Promise<unknown>>): Promise<Host> => {
  const controlPlane = await startControlPlane({ controllerManager: true });
  const { url: server, caCertificate: ca, clientCertificate: cert, clientKey: key } = controlPlane;
  const transport = httpsTransport({ server, ca, clock, credentials: () => ({ certificate: { cert, key } }) });
  const client = createClient(transport, { clock });
  const subresources = createSubresources(transport, { clock });
  const close = async (): Promise<void> => {
    transport.close();
    await controlPlane.stop();
  };
  try {
    const stopCore = await startCore({ controlPlane, client, subresources });
    return {
      client,
      subresources,
      kubeconfig: await readFile(controlPlane.adminKubeconfigPath, 'utf8'),
      now: () => clock.now(),
      // All scenarios run concurrently: each polls seldom, so that the API server has time for other work.
      tick: () => sleep(clock, 1_000),
      timeoutMs: 1_200_000,
      stop: async () => {
        try {
          await stopCore();
        } finally {
          await close();
        }
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
};
