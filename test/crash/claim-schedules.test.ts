import { runClaimSuite } from '../../packages/provider/src/claim/suite/run.ts';
import { namespace, startKubernetes } from '../../packages/provider/src/claim/testing/harness.ts';

// More schedules than the test next to the code, and different ones.
runClaimSuite(
  'claims on the embedded Kubernetes, under many schedules',
  async () => {
    const { transport, close } = await startKubernetes();
    return { transport, namespace, close };
  },
  { schedules: 500, firstSeed: 20_001 },
);
