import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { secretKeys } from '@tartan/api';
import { installRights, joinBinding, parseFlags, providerRights, remoteRights } from '@tartan/provider';
import { nodeFlags } from '@tartan/tools-build';
import { argsOf, deploymentOf, namespace, ofKind, only, render, type Rendered } from './chart/render.ts';
import { assertRights, rulesIn, sorted } from './chart/roles.ts';
import { allFleets, externalSecrets, fleetWith, production, type Values, valueSets } from './chart/value-sets.ts';

const containerIn = (objects: readonly Rendered[]) => deploymentOf(objects)['spec'].template.spec.containers[0];

/** As the manager itself parses its arguments, in a Pod of this namespace. */
const optionsOf = (objects: readonly Rendered[]) => {
  const parsed = parseFlags(argsOf(objects), { POD_NAMESPACE: namespace });
  assert.ok('options' in parsed, JSON.stringify(parsed));
  return parsed.options;
};

describe('the manager', () => {
  for (const [name, values] of Object.entries(valueSets))
    test(`accepts its arguments, with ${name}, and its rights equal the table for them`, async () => {
      const objects = await render(values);
      assertRights(objects, deploymentOf(objects).metadata.name, providerRights(optionsOf(objects)));
    });

  test('has one Role in a namespace that needs it for two reasons', async () => {
    const objects = await render({ fleetSpread: { deployment: 'web' } });
    const role = ofKind(objects, 'Role').filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.name === 'tartan-provider',
    );
    assert.equal(role.length, 1);
    assert.deepEqual(
      rulesIn(role[0] as Rendered),
      sorted(providerRights(optionsOf(objects)).inNamespace[namespace] ?? []),
    );
  });

  test('tolerates the loss of a Node, and is unprivileged', async () => {
    const objects = await render();
    const { replicas, strategy, template } = deploymentOf(objects)['spec'];
    assert.equal(replicas, 2);
    assert.deepEqual(strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 });
    assert.equal(only(objects, 'PodDisruptionBudget')['spec'].maxUnavailable, 1);
    assert.deepEqual(only(objects, 'PodDisruptionBudget')['spec'].selector.matchLabels, template.metadata.labels);
    const [term] = template.spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution;
    assert.deepEqual(term.podAffinityTerm.labelSelector.matchLabels, template.metadata.labels);
    assert.equal(optionsOf(objects).leaderElection?.namespace, namespace);
    const everyPod = [template.spec, ...ofKind(objects, 'Job').map(({ spec }) => spec.template.spec)];
    for (const { securityContext, containers } of everyPod) {
      assert.equal(securityContext.runAsNonRoot, true);
      assert.deepEqual(securityContext.seccompProfile, { type: 'RuntimeDefault' });
      assert.deepEqual(containers[0].securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  test('gets secrets by reference only', async () => {
    const objects = await render({ ...production, scaleway: { secretName: 'the-key' } });
    const { env, args, volumeMounts } = containerIn(objects);
    // As files, which follow the Secret. Variables do not.
    assert.doesNotMatch(JSON.stringify(env), /secretKeyRef/);
    assert.deepEqual(volumeMounts, [{ name: 'scaleway', mountPath: '/etc/tartan/scaleway', readOnly: true }]);
    const [deployment] = ofKind(objects, 'Deployment');
    assert.deepEqual(deployment?.spec.template.spec.volumes, [{ name: 'scaleway', secret: { secretName: 'the-key' } }]);
    assert.ok(args.includes('--scaleway-credentials-path=/etc/tartan/scaleway'));
    assert.doesNotMatch(args.join(' '), /SCW_|secret-key|auth-key=/);
    for (const secret of ofKind(objects, 'Secret')) assert.ok(!('data' in secret) && !('stringData' in secret));
  });

  test('gets its Pod name and namespace, and extraArgs come last', async () => {
    const objects = await render({ provider: { extraArgs: ['--log-level=debug'] } });
    const { env, args, command } = containerIn(objects);
    for (const name of ['POD_NAMESPACE', 'POD_NAME', 'POD_IP'])
      assert.ok(
        env.some((variable: { name: string }) => variable.name === name),
        name,
      );
    assert.equal(args.at(-1), '--log-level=debug');
    assert.equal(optionsOf(objects).log.level, 'debug');
    assert.deepEqual(command, ['/usr/local/bin/node', ...nodeFlags, '/opt/tartan/manager.mjs']);
    assert.doesNotMatch(args.join(' '), /github-api-url/);
    const enterprise = await render({ provider: { githubApiUrl: 'https://github.example.com/api/v3' } });
    assert.ok(argsOf(enterprise).includes('--github-api-url=https://github.example.com/api/v3'));
    optionsOf(enterprise);
  });

  test('has the settings of builders when there are some, and of a tailnet when there is one', async () => {
    const plainOptions = optionsOf(await render());
    assert.equal(plainOptions.artifacts.builder, undefined);
    assert.equal(plainOptions.tailscale, undefined);
    assert.ok(optionsOf(await render(fleetWith('buildersFleet'))).artifacts.builder);
    const { tailscale, artifacts, vmEgress, fleetSpread } = optionsOf(await render(production));
    assert.deepEqual(tailscale?.tags, ['tag:tuist-macmini', 'tag:production']);
    assert.equal(artifacts.nodeExporter, '/opt/node_exporter/node_exporter');
    assert.equal(vmEgress.allow.length, 3);
    assert.deepEqual(fleetSpread, { name: 'xcresult-processor', namespace: 'tuist' });
  });
});

describe('the version that connects the manager and its fleets', () => {
  const idsOf = async (values: Values): Promise<Set<string>> => {
    const objects = await render({ ...allFleets, ...values });
    const fleets = ofKind(objects, 'MacFleet').map(({ spec }) => spec.releaseID);
    assert.equal(fleets.length, 3);
    return new Set([optionsOf(objects).releaseID, ...fleets]);
  };

  test('is the same everywhere, and changes with the manager', async () => {
    const [id, ...others] = await idsOf({});
    assert.ok(id);
    assert.deepEqual(others, []);
    assert.deepEqual(await idsOf({ provider: { replicas: 3 } }), new Set([id]));
    const managers: readonly Values[] = [
      { provider: { image: { tag: '9.9.9' } } },
      { provider: { image: { repository: 'elsewhere' } } },
      { provider: { extraArgs: ['--inventory-interval=2m'] } },
      { provider: { extraEnv: [{ name: 'SCW_API_URL', value: 'https://example.com' }] } },
      { apiServerURL: 'https://api.example.com' },
    ];
    for (const values of managers) assert.equal((await idsOf(values)).has(id), false, JSON.stringify(values));
  });
});

describe('roles of others', () => {
  test('Cluster API core, as capi-remote, has the rights of its table', async () => {
    const objects = await render();
    assert.deepEqual(rulesIn(only(objects, 'ClusterRole', 'tartan-capi-remote')), sorted(remoteRights));
    assert.deepEqual(only(objects, 'ClusterRoleBinding', 'tartan-capi-remote')['subjects'], [
      { kind: 'ServiceAccount', namespace, name: 'capi-remote' },
    ]);
    only(objects, 'ServiceAccount', 'capi-remote');
  });

  test('the installer of definitions has the rights of its table, only before releases', async () => {
    const objects = await render();
    const ofInstaller = objects.filter(({ metadata }) => metadata.name === 'tartan-crds');
    assert.deepEqual(
      ofInstaller.map(({ kind }) => kind),
      ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Job'],
    );
    const weights = ofInstaller.map(({ kind, metadata: { annotations = {} } }) => {
      assert.equal(annotations['helm.sh/hook'], 'pre-install,pre-upgrade', kind);
      return Number(annotations['helm.sh/hook-weight']);
    });
    const ofJob = weights.pop() ?? 0;
    assert.ok(weights.every((weight) => weight < ofJob));
    assert.deepEqual(rulesIn(only(objects, 'ClusterRole', 'tartan-crds')), sorted(installRights));
    assert.deepEqual(only(objects, 'Job', 'tartan-crds')['spec'].template.spec.containers[0].command, [
      '/usr/local/bin/node',
      '/opt/tartan/install-crds.mjs',
    ]);
    const without = await render({ crds: { upgrade: false } });
    assert.deepEqual(
      without.filter(({ metadata }) => metadata.name === 'tartan-crds'),
      [],
    );
  });

  test('Macs that join may request a certificate, unless switched off', async () => {
    const binding = only(await render(), 'ClusterRoleBinding', 'tartan-join');
    assert.equal(binding['roleRef'].name, joinBinding.clusterRole);
    assert.deepEqual(binding['subjects'], [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: joinBinding.group },
    ]);
    const without = await render({ joinBinding: { create: false } });
    assert.deepEqual(
      without.filter(({ metadata }) => metadata.name === 'tartan-join'),
      [],
    );
  });
});

describe('the kubeconfig of Cluster API core', () => {
  test('is written by the provider, and no store is needed', async () => {
    const objects = await render();
    assert.equal(only(objects, 'ExternalControlPlane')['spec'].kubeconfig, 'Minted');
    assert.deepEqual([...ofKind(objects, 'Secret'), ...ofKind(objects, 'ExternalSecret')], []);
  });

  test('can come from a store, and outlives the hook that creates it (INC-307)', async () => {
    const objects = await render(externalSecrets);
    assert.equal(only(objects, 'ExternalControlPlane')['spec'].kubeconfig, 'Provided');
    const { metadata, spec } = only(objects, 'ExternalSecret', 'tartan-capi-kubeconfig');
    assert.deepEqual(metadata.annotations, {
      'helm.sh/hook': 'pre-install,pre-upgrade,pre-rollback',
      'helm.sh/hook-weight': '-10',
      'helm.sh/hook-delete-policy': 'before-hook-creation',
    });
    const { template, ...target } = spec.target;
    assert.deepEqual(target, { name: 'tartan-capi-kubeconfig', creationPolicy: 'Orphan', deletionPolicy: 'Retain' });
    assert.equal(template.metadata.labels['cluster.x-k8s.io/cluster-name'], 'tartan-capi');
    assert.equal(spec.data[0].secretKey, secretKeys.kubeconfig);
    const token = only(objects, 'Secret', 'capi-remote-token');
    assert.equal(token['type'], 'kubernetes.io/service-account-token');
    assert.deepEqual(token.metadata.annotations, {
      'helm.sh/resource-policy': 'keep',
      'kubernetes.io/service-account.name': 'capi-remote',
    });
  });
});

describe('monitoring', () => {
  test('the alerts are those of the file, with an absolute link to their runbook or none', async () => {
    const linksWith = async (alerts: Values): Promise<[alert: string, url: string | undefined][]> => {
      const { groups } = only(await render({ alerts: { enabled: true, ...alerts } }), 'PrometheusRule')['spec'];
      return groups.flatMap(({ rules }: { rules: { alert: string; annotations: Record<string, string> }[] }) =>
        rules.map(({ alert, annotations }) => [alert, annotations['runbook_url']]),
      );
    };
    const links = await linksWith({ runbookBaseURL: 'https://example.com/tree/main/' });
    assert.ok(links.length > 0);
    for (const [alert, url] of links) assert.equal(url, `https://example.com/tree/main/docs/runbooks/${alert}.md`);
    for (const [alert, url] of await linksWith({})) assert.equal(url, undefined, alert);
    assert.deepEqual(ofKind(await render(), 'PrometheusRule'), []);
  });

  test('metrics are found by annotations or by a ServiceMonitor', async () => {
    const annotationsWith = async (values: Values): Promise<Record<string, string>> =>
      deploymentOf(await render(values))['spec'].template.metadata.annotations;
    assert.equal((await annotationsWith({}))['prometheus.io/port'], '8080');
    assert.equal(
      (await annotationsWith({ provider: { scrapeAnnotations: false } }))['prometheus.io/scrape'],
      undefined,
    );
    const objects = await render({ serviceMonitor: { enabled: true, labels: { release: 'p' } } });
    const { metadata, spec } = only(objects, 'ServiceMonitor');
    assert.equal(metadata.labels?.['release'], 'p');
    const service = only(objects, 'Service');
    for (const [label, value] of Object.entries(spec.selector.matchLabels))
      assert.equal(service.metadata.labels?.[label], value);
    assert.equal(spec.endpoints[0].port, service['spec'].ports[0].name);
    assert.equal(spec.endpoints[0].honorLabels, true);
  });
});
