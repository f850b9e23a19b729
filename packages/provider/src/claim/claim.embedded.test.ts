import { runClaimSuite } from './suite/run.ts';
import { namespace, startKubernetes } from './testing/harness.ts';

runClaimSuite(
  'claims on the embedded Kubernetes',
  async () => {
    const { transport, close } = await startKubernetes();
    return { transport, namespace, close };
  },
  { schedules: 60 },
);
