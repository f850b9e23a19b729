import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { runClusterApiSuite } from '@tartan/sim-cluster-api/suite';
import { startClusterApi } from '@tartan/tools-kubernetes';
import { realHost } from './cluster-api/real-host.ts';

const start = () =>
  realHost(async ({ controlPlane }) => {
    const core = await startClusterApi(controlPlane);
    return async () => {
      await core.stop();
      // The rights that it ships must be enough, also for kinds that it does not know.
      const lines = readFileSync(core.log, 'utf8').split('\n');
      assert.deepEqual(
        lines.filter((line) => /forbidden/i.test(line)),
        [],
      );
    };
  });

runClusterApiSuite('Cluster API core 1.14 on a real Kubernetes', start, { sideBySide: true });
