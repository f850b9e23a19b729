import { runnerPool, type RunnerPool } from '@tartan/api';
import { getCondition, type Live } from '@tartan/kube';
import { fleetNamespace as namespace } from '../../simulation/control-plane.ts';
import { queueOneJob } from '../../simulation/job-queue.ts';
import { poolName } from '../../simulation/runner-pool.ts';
import { CannotPlay, type Fault, type Scene } from '../fault.ts';
import { untilTrue } from '../waiting.ts';

const poolOf = ({ simulation }: Scene): Promise<Live<RunnerPool>> =>
  simulation.controlPlane.client.get(runnerPool.resource, { namespace, name: poolName });

const isSaturated = ({ status }: RunnerPool): boolean =>
  getCondition(status?.conditions, 'JobsWaiting')?.status === 'True';

export const queueJobs: Fault = {
  name: 'queue-jobs',
  title: 'More jobs come at once than there are runners: the rest must wait, be seen to wait, and none may be lost.',
  watch: [`tartan runners ${poolName} -w`, 'kubectl get pods -w'],
  play: async (scene) => {
    const { say, simulation } = scene;
    const { runners } = simulation;
    if (runners === undefined)
      throw new CannotPlay('There are no runners here: start with more machines (tartan up --machines 4).');
    const { github } = runners;
    const wanted = (await poolOf(scene)).spec.replicas;
    if (wanted === 0) throw new CannotPlay(`The pool wants no runners: kubectl scale rpool ${poolName} --replicas=2.`);
    const lost = github.lostJobs().length;
    const jobs = Array.from({ length: wanted + 2 }, () => queueOneJob(github));
    say(`${jobs.length} jobs are queued for ${wanted === 1 ? '1 runner' : `${wanted} runners`}.`);
    let saturated = await poolOf(scene);
    await untilTrue(scene, 'the pool says that jobs wait', async () => {
      // It asks GitHub twice a minute, and jobs of a simulation take seconds: some wait until it has seen them.
      if (!jobs.some(({ status }) => status === 'queued')) jobs.push(queueOneJob(github), queueOneJob(github));
      saturated = await poolOf(scene);
      return isSaturated(saturated);
    });
    const waiting = getCondition(saturated.status?.conditions, 'JobsWaiting');
    say(`The pool says ${waiting?.reason ?? ''}: ${waiting?.message ?? ''}`);
    await untilTrue(scene, 'all jobs have ended', () => jobs.every(({ status }) => status === 'completed'));
    const failed = jobs.filter(({ conclusion }) => conclusion !== 'success');
    if (failed.length > 0 || github.lostJobs().length > lost)
      throw new Error(`${failed.map(({ name }) => name).join(', ')} did not end with success`);
    return `All ${jobs.length} jobs have ended with success, each in a virtual machine of its own. Nobody has to do anything; more replicas on more Macs would have been faster.`;
  },
};
