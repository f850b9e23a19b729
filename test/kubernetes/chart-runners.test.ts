import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nodeFlags } from '@tartan/tools-build';
import { parseFlags, runnersRBACRules } from '@tartan/runners';
import { argsOf, deploymentOf, namespace, ofKind, only, render, type Rendered } from './chart/render.ts';
import { assertRights } from './chart/roles.ts';
import { allFleets, production, runners, type Values } from './chart/value-sets.ts';

const component = 'runners-controller';
const name = 'tartan-runners-controller';
const ofController = (objects: readonly Rendered[]): readonly Rendered[] =>
  objects.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === component);
const kindsOf = (objects: readonly Rendered[]): string[] => objects.map(({ kind }) => kind).toSorted();
const withController = (more: Values = {}): Values => ({ runnersController: { enabled: true, ...more } });

/** As the controller itself parses its arguments, in a Pod of this namespace. */
const optionsOf = (objects: readonly Rendered[]) => {
  const parsed = parseFlags(argsOf(objects, component), { POD_NAMESPACE: namespace });
  assert.ok('options' in parsed, JSON.stringify(parsed));
  return parsed.options;
};

describe('the runners controller', () => {
  for (const [what, values] of Object.entries({ runners, production }))
    test(`accepts its arguments, with ${what}, and its rights equal the table for them`, async () => {
      const objects = await render(values);
      const { metadata } = deploymentOf(objects, component);
      assertRights(objects, metadata.name, runnersRBACRules(optionsOf(objects)));
      assert.equal(optionsOf(objects).leaderElection?.namespace, namespace);
    });

  test('exists if enabled, and not without Cluster API, whose Macs it needs', async () => {
    assert.deepEqual(ofController(await render(allFleets)), []);
    assert.deepEqual(await render({ ...runners, capi: { enabled: false } }), []);
    const objects = ofController(await render(runners));
    assert.deepEqual(kindsOf(objects), [
      'ClusterRole',
      'ClusterRoleBinding',
      'Deployment',
      'Role',
      'RoleBinding',
      'ServiceAccount',
    ]);
    for (const { metadata } of objects) assert.equal(metadata.name, name);
  });

  test('has the pools of its own namespace, and no secret in its arguments', async () => {
    assert.deepEqual(argsOf(await render(runners), component), [
      `--namespace=${namespace}`,
      '--log-level=info',
      '--stuck-after-seconds=600',
    ]);
    assert.equal(optionsOf(await render(runners)).githubURL, 'https://api.github.com');
    assert.equal(optionsOf(await render(production)).githubURL, 'https://github.example.com/api/v3');
    const { containers } = deploymentOf(await render(production), component)['spec'].template.spec;
    assert.deepEqual(containers[0].command, ['/usr/local/bin/node', ...nodeFlags, '/opt/tartan/runners.mjs']);
    assert.doesNotMatch(JSON.stringify(containers), /secretKeyRef|SCW_/);
  });

  test('extraArgs come last', async () => {
    const args = argsOf(await render(withController({ extraArgs: ['--log-level=debug'] })), component);
    assert.equal(args.at(-1), '--log-level=debug');
  });

  test('is unprivileged, and has small resources', async () => {
    const { securityContext, containers } = deploymentOf(await render(runners), component)['spec'].template.spec;
    assert.equal(securityContext.runAsNonRoot, true);
    assert.deepEqual(securityContext.seccompProfile, { type: 'RuntimeDefault' });
    const [{ securityContext: ofContainer, livenessProbe, readinessProbe, resources }] = containers;
    assert.deepEqual(ofContainer, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    assert.equal(livenessProbe.httpGet.path, '/healthz');
    assert.equal(readinessProbe.httpGet.path, '/readyz');
    assert.deepEqual(resources.limits, { memory: '256Mi' });
  });

  test('has one replica by default, and several with anti-affinity', async () => {
    const alone = await render(runners);
    assert.equal(deploymentOf(alone, component)['spec'].replicas, 1);
    assert.deepEqual(ofKind(ofController(alone), 'PodDisruptionBudget'), []);
    const several = await render(withController({ replicas: 2 }));
    const { template } = deploymentOf(several, component)['spec'];
    const budget = only(ofController(several), 'PodDisruptionBudget')['spec'];
    assert.equal(budget.maxUnavailable, 1);
    assert.deepEqual(budget.selector.matchLabels, template.metadata.labels);
    const [term] = template.spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution;
    assert.deepEqual(term.podAffinityTerm.labelSelector.matchLabels, template.metadata.labels);
  });

  test('has the image of the manager, and its own scheduling settings', async () => {
    const objects = await render({
      provider: { image: { repository: 'r/t', tag: '1', pullSecrets: ['p'] }, nodeSelector: { a: 'b' } },
      ...withController({ nodeSelector: { c: 'd' }, tolerations: [{ key: 'e' }] }),
    });
    const { spec } = deploymentOf(objects, component)['spec'].template;
    assert.equal(spec.containers[0].image, 'r/t:1');
    assert.deepEqual(spec.imagePullSecrets, [{ name: 'p' }]);
    assert.equal(spec.nodeSelector.c, 'd');
    assert.deepEqual(spec.tolerations, [{ key: 'e' }]);
    assert.equal(deploymentOf(objects)['spec'].template.spec.tolerations, undefined);
  });

  test('does not change the manager, for which fleets would wait', async () => {
    const idOf = async (values: Values): Promise<string | undefined> =>
      argsOf(await render(values)).find((argument) => argument.startsWith('--release-id='));
    assert.equal(await idOf(withController()), await idOf({}));
  });

  test('is scraped by Prometheus, and its alerts are installed', async () => {
    const values = { serviceMonitor: { enabled: true, labels: { release: 'p' } }, alerts: { enabled: true } };
    const objects = await render({ ...runners, ...values });
    const monitor = only(ofController(objects), 'ServiceMonitor');
    assert.equal(monitor.metadata.labels?.['release'], 'p');
    const service = only(ofController(objects), 'Service');
    const pods = deploymentOf(objects, component)['spec'].template.metadata.labels;
    assert.deepEqual(service['spec'].selector, pods);
    for (const [label, value] of Object.entries(monitor['spec'].selector.matchLabels))
      assert.equal(service.metadata.labels?.[label], value);
    const groupsIn = (all: readonly Rendered[]): string[] =>
      only(all, 'PrometheusRule')['spec'].groups.map((group: { name: string }) => group.name);
    const without = groupsIn(await render(values));
    assert.ok(!without.includes('tartan.runners'));
    assert.deepEqual(new Set(groupsIn(objects)), new Set([...without, 'tartan.runners']));
  });
});

describe('Macs with runners', () => {
  test('are not released before their jobs are done', async () => {
    const rules = ofKind(await render(runners), 'MachineDrainRule');
    assert.deepEqual(
      rules.map(({ metadata, spec }) => [metadata.name, spec.drain.behavior, spec.pods[0]]),
      [['tartan-runners-fleet', 'WaitCompleted', { selector: { matchLabels: { 'tuist.dev/runner': 'true' } } }]],
    );
  });
});
