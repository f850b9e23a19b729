import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  finalizers,
  kindNames,
  labels,
  macTaint,
  managerFlags,
  metricNames,
  macNames,
  secretNames,
  serverNames,
} from './names.ts';

/** Written out a second time on purpose: changing one of these breaks fleets in use. */
describe('names on the wire do not change', () => {
  const table: [string, string][] = [
    [kindNames.machine.plural, 'scalewayapplesiliconmachines'],
    [kindNames.machineTemplate.plural, 'scalewayapplesiliconmachinetemplates'],
    [kindNames.machine.group, 'infrastructure.cluster.x-k8s.io'],
    [kindNames.machine.version, 'v1alpha1'],
    [kindNames.controlPlane.group, 'controlplane.cluster.x-k8s.io'],
    [kindNames.runnerPool.group, 'tuist.dev'],
    [finalizers.vmCleanup, 'tart-kubelet.tuist.dev/vm-cleanup'],
    [finalizers.machine, 'scalewayapplesilicon.cluster.x-k8s.io/finalizer'],
    [macNames.agentJob, 'dev.tuist.tart-kubelet'],
    [macNames.pfAnchor, 'tuist.runners'],
    [labels.fleet, 'tuist.dev/fleet'],
    [labels.runtime, 'tuist.dev/runtime'],
    [`${macTaint.key}=${macTaint.value}:${macTaint.effect}`, 'tuist.dev/macos=true:NoSchedule'],
    [serverNames.defaultPoolPrefix, 'tuist-pool-'],
    [serverNames.claimPendingPrefix, 'tuist-claim-pending-'],
    [metricNames.orphanServers, 'scaleway_orphan_servers'],
    [secretNames.machine('mac-1'), 'mac-1-bootstrap'],
    [secretNames.fleetSSH('macos-fleet'), 'macos-fleet-ssh'],
    [managerFlags.defaultAdoptPoolPrefix, '--default-adopt-pool-prefix'],
  ];
  for (const [name, wanted] of table) test(wanted, () => assert.equal(name, wanted));

  test('short names are unique', () => {
    const shortNames = Object.values(kindNames).flatMap((names) => names.shortNames);
    assert.deepEqual(shortNames.sort(), ['ecp', 'fleet', 'mac', 'rpool', 'samm', 'sammt', 'sasc']);
  });
});
