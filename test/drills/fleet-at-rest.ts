import { machine, macHost, macNames, serverNames } from '@tartan/api';
import { isConditionTrue, nodes, pods } from '@tartan/kube';
import { sleep, systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { coreKinds, type Simulation } from '@tartan/sim-fleet';

const namespace = 'default';

/** Why this is not a fleet at rest, as sentences. Empty: it is. */
const unsettledReasons = async ({ controlPlane, macs }: Simulation): Promise<string[]> => {
  const { client } = controlPlane;
  const [deployments, coreMachines, machines, hosts, allNodes, allPods] = await Promise.all([
    client.list(coreKinds.machineDeployments, { namespace }),
    client.list(coreKinds.machines, { namespace }),
    client.list(machine.resource, { namespace }),
    client.list(macHost.resource),
    client.list(nodes),
    client.list(pods, { namespace }),
  ]);
  const servers = macs.scaleway.servers();
  const problems: string[] = [];
  const say = (isWrong: boolean, what: string): void => {
    if (isWrong) problems.push(what);
  };

  for (const { metadata, spec, status } of deployments.items)
    say(
      status?.availableReplicas !== spec?.['replicas'] || !isConditionTrue(status?.conditions ?? [], 'Available'),
      `fleet ${metadata.name} has ${status?.availableReplicas} of ${String(spec?.['replicas'])} machines available`,
    );
  const wanted = deployments.items.reduce((sum, { spec }) => sum + Number(spec?.['replicas']), 0);
  say(
    coreMachines.items.length !== wanted,
    `there are ${coreMachines.items.length} Machines, and ${wanted} are wanted`,
  );
  say(machines.items.length !== wanted, `there are ${machines.items.length} of ours, and ${wanted} are wanted`);
  say(allNodes.items.length !== wanted, `there are ${allNodes.items.length} Nodes, and ${wanted} are wanted`);

  for (const { metadata, spec, status } of machines.items) {
    const { name } = metadata;
    const mine = servers.filter((server) => server.name === name);
    say(status?.ready !== true, `machine ${name} is not Ready: ${status?.phase}`);
    say(
      mine.length !== 1 || mine[0]?.id !== status?.serverID,
      `machine ${name} has ${mine.length} servers of its name`,
    );
    const node = allNodes.items.find((each) => each.metadata.name === name);
    const isReady = node?.status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false;
    say(!isReady, `Node ${name} is not Ready`);
    say(node?.spec?.providerID !== spec.providerID, `Node ${name} has providerID ${node?.spec?.providerID}`);
    const core = coreMachines.items.find((each) => each.metadata.name === name);
    say(core?.status?.nodeRef?.name !== name, `Machine ${name} is not bound to its Node`);
    say(mine[0]?.mac?.job(macNames.agentJob)?.pid === undefined, `no agent runs on the Mac of ${name}`);
  }
  const held = hosts.items.filter(({ status }) => status?.state === 'held');
  say(held.length !== wanted, `${held.length} Macs are held, and ${wanted} are wanted`);
  for (const server of servers)
    if (!machines.items.some(({ metadata }) => metadata.name === server.name)) {
      const host = hosts.items.find(({ metadata }) => metadata.name === server.id);
      say(
        !server.name.startsWith(serverNames.defaultPoolPrefix),
        `server ${server.name} is nobody's, and not in the pool`,
      );
      say(host?.status?.state !== 'pool', `Mac ${server.id} is ${host?.status?.state}, and should be in the pool`);
    }
  for (const { metadata, status } of allPods.items)
    say(
      status?.phase !== 'Running' || metadata.deletionTimestamp !== undefined,
      `Pod ${metadata.name} is ${status?.phase}`,
    );
  return problems;
};

const lookEveryMs = 250;

/** Polls until the fleet is at rest: its state comes from many objects. */
export const waitForFleetAtRest = async (simulation: Simulation, after: string): Promise<void> => {
  let problems: string[] = [];
  const isAtRest = async (): Promise<boolean> => {
    await sleep(systemClock, lookEveryMs);
    problems = await unsettledReasons(simulation).catch((error: unknown) => [String(error)]);
    return problems.length === 0;
  };
  await eventually(`the fleet is at rest after ${after}`, isAtRest).catch((cause: unknown) => {
    throw new Error(problems.join('\n'), { cause });
  });
};
