import type { TestContext } from 'node:test';
import { type Client, createClient, inProcessTransport } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createKubernetes } from '@tartan/sim-kubernetes';

/** An embedded Kubernetes for one test, with the client of an administrator. */
export const startCluster = async (
  t: TestContext,
): Promise<{ client: Client; clock: ReturnType<typeof manualClock> }> => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock });
  t.after(() => kubernetes.stop());
  const user = { commonName: 'admin', organizations: ['system:masters'] };
  return { client: createClient(inProcessTransport(kubernetes.handle, { user }), { clock }), clock };
};
