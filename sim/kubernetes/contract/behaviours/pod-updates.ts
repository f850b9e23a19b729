import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { pod } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { read, readList } from '../read.ts';

const frozen =
  /^Pod "a" is invalid: spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`,`spec\.initContainers\[\*\]\.image`,`spec\.activeDeadlineSeconds`,`spec\.tolerations` \(only additions to existing tolerations\),`spec\.terminationGracePeriodSeconds` \(allow it to be set to 1 if it was previously negative\)/;

export const podUpdates = topic('updates of pods', [
  behaviour('most of the spec cannot change', async (trial) => {
    const path = await readyForPods(trial);
    await trial.create(path, pod('a'));
    for (const spec of [
      { nodeName: 'somewhere' },
      { terminationGracePeriodSeconds: 5 },
      { restartPolicy: 'Never' },
      { hostNetwork: true },
    ]) {
      refused(await trial.patch(`${path}/a`, 'merge', { spec }), { code: 422, reason: 'Invalid', message: frozen });
    }
  }),

  behaviour('the image of a container can change', async (trial) => {
    const path = await readyForPods(trial);
    await trial.create(path, pod('a'));
    const answer = await trial.patch(`${path}/a`, 'strategic', {
      spec: { containers: [{ name: 'main', image: 'mac:2' }] },
    });
    assert.equal(read(answer.json, 'spec.containers.0.image'), 'mac:2');
  }),

  behaviour('containers can be neither added nor removed', async (trial) => {
    const path = await readyForPods(trial);
    await trial.create(path, pod('a'));
    refused(await trial.patch(`${path}/a`, 'strategic', { spec: { containers: [{ name: 'more', image: 'mac:1' }] } }), {
      code: 422,
      reason: 'Invalid',
      message: /spec\.containers: Forbidden: pod updates may not add or remove containers/,
    });
  }),

  behaviour('tolerations can only be added', async (trial) => {
    const path = await readyForPods(trial);
    const created = await trial.create(path, pod('a'));
    const tolerations = readList(created, 'spec.tolerations');
    const more = [...tolerations, { key: 'x', operator: 'Exists' }];
    const edited = await trial.edit(`${path}/a`, { spec: { tolerations: more } });
    assert.deepEqual(read(edited, 'spec.tolerations'), more);
    refused(await trial.patch(`${path}/a`, 'merge', { spec: { tolerations: tolerations.slice(1) } }), {
      code: 422,
      reason: 'Invalid',
    });
  }),

  behaviour('a deadline can be set and shortened, not lengthened', async (trial) => {
    const path = await readyForPods(trial);
    await trial.create(path, pod('a'));
    await trial.edit(`${path}/a`, { spec: { activeDeadlineSeconds: 50 } });
    await trial.edit(`${path}/a`, { spec: { activeDeadlineSeconds: 5 } });
    refused(await trial.patch(`${path}/a`, 'merge', { spec: { activeDeadlineSeconds: 50 } }), {
      code: 422,
      reason: 'Invalid',
      message:
        'Pod "a" is invalid: spec.activeDeadlineSeconds: Invalid value: 50: must be less than or equal to previous value',
    });
  }),

  behaviour('labels and annotations can change', async (trial) => {
    const path = await readyForPods(trial);
    await trial.create(path, pod('a'));
    const edited = await trial.edit(`${path}/a`, { metadata: { labels: { x: 'y' }, annotations: { x: 'y' } } });
    assert.deepEqual([edited.metadata.labels, edited.metadata.annotations], [{ x: 'y' }, { x: 'y' }]);
  }),
]);
