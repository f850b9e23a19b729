import { annotations, conditionsByKind, type MachineStatus } from '@tartan/api';
import { type Drift, failuresOf, type HostDecision, type MachineDecision } from '@tartan/provider/decisions';
import { age } from '../output/age.ts';
import { type DecisionText, decisionText } from './explanation.ts';

const { Provisioned, HostUpToDate } = conditionsByKind.ScalewayAppleSiliconMachine;

interface MachineTextContext {
  readonly name: string;
  readonly namespace: string;
  readonly memory: MachineStatus;
  readonly fleet: string;
  readonly pods: readonly string[];
}

const byItself = 'The manager continues by itself.';
const poolView = 'See the pool: tartan pool.';

/** What the manager does next with a machine. Total: a decision without a text does not compile. */
export const machineDecisionText = (decision: MachineDecision, context: MachineTextContext): DecisionText => {
  const { memory, name, namespace } = context;
  const replace = `Delete its Machine to get another Mac: kubectl delete machine -n ${namespace} NAME (the owner of ${name}).`;
  switch (decision.kind) {
    case 'ignore':
      return decisionText('The machine is being deleted, and has no finalizer of Tartan.', [
        'It is gone when other controllers have removed their finalizers.',
      ]);
    case 'await runner':
      return decisionText(`The machine waits for its runner at GitHub. ${decision.message}`, [
        'The manager releases its Mac when GitHub does not list the runner any more.',
      ]);
    case 'remove runner':
      return decisionText('The manager removes its runner at GitHub.', ['Then it releases the Mac.']);
    case 'release':
      return decisionText(
        `The manager releases its Mac: it is wiped, then returned to the pool ${decision.poolPrefix}.`,
        [
          'Scaleway renames and reinstalls the Mac. When its disk is being erased, the objects of the machine are deleted.',
        ],
      );
    case 'await wipe':
      return decisionText(
        `The machine waits until Scaleway erases its Mac. ${decision.message}`,
        [byItself],
        ['If Scaleway does not reinstall it: check the server at Scaleway, and explain its MacHost.'],
      );
    case 'clean up':
      return decisionText(cleanUpTexts[decision.reason], [
        'The manager deletes its Secret, its identity and its Node, then removes the finalizer.',
      ]);
    case 'add finalizer':
      return decisionText(
        'No manager has observed the machine yet.',
        ['A manager adds its finalizer, then claims a Mac.'],
        ['If this lasts longer than a minute: check that the manager runs (tartan version), and read its log.'],
      );
    case 'block move':
      return decisionText('The manager annotates the machine, so that clusterctl move skips it.', [byItself]);
    case 'pause':
      return decisionText(
        `Paused: ${decision.why}.`,
        ['Nothing until the pause ends.'],
        ['Remove the pause. Ask the person who set it first.'],
      );
    case 'await cluster':
      return decisionText(
        `The machine waits for Cluster API. ${decision.message}`,
        ['Then the machine claims a Mac.'],
        [`Check the cluster: kubectl get clusters,machines -n ${namespace}.`],
      );
    case 'refuse':
      return decisionText(
        `The machine gets neither a Mac nor the identity of a Node. ${decision.message}`,
        ['The manager continues as soon as this is fixed.'],
        [Provisioned.reasons[decision.reason][1]],
      );
    case 'cannot claim':
      return decisionText(
        `The machine has no Mac. ${decision.message ?? Provisioned.reasons[decision.reason][1]}`,
        decision.reason === 'NoAvailableHost' ? ['The manager tries again whenever the pool changes.'] : [],
        decision.reason === 'NoAvailableHost'
          ? [poolView, 'Order a Mac at Scaleway with a name of the pool, or delete a machine that is not needed.']
          : [Provisioned.reasons[decision.reason][1]],
      );
    case 'await key':
      return decisionText(
        `The machine waits for the SSH key of its fleet. ${decision.message}`,
        [byItself],
        ['Check that the Scaleway credentials may register SSH keys: the message has the error.'],
      );
    case 'reserve':
      return decisionText(`A suitable Mac is free: the manager reserves ${decision.serverID} next.`, [
        'Then it claims the Mac, renames it, and prepares it over SSH.',
      ]);
    case 'take':
      return decisionText('The manager claims the reserved Mac.', [
        'Then it renames the Mac, and prepares it over SSH.',
      ]);
    case 'await host':
      return decisionText(
        `The machine waits for its Mac. ${decision.message}`,
        [byItself],
        ['Explain its MacHost, if this lasts.'],
      );
    case 'detach host':
      return decisionText(`The machine does not hold its Mac any more. ${decision.message}`, [
        'It claims another one.',
      ]);
    case 'lost host':
      return decisionText(
        `Its Mac is lost. ${decision.message}`,
        ['Nothing: a provisioned machine never changes its server.'],
        [replace],
      );
    case 'fetch credentials':
      return decisionText(
        'The manager reads the login of its Mac from Scaleway.',
        ['Then it prepares the Mac over SSH.'],
        ['If Scaleway has no password: add it to the Secret of the machine.'],
      );
    case 'set provider id':
      return decisionText('The manager sets spec.providerID, which is immutable.', [
        'Then it prepares the Mac over SSH.',
      ]);
    case 'bootstrap':
      return decisionText(`The manager prepares its Mac over SSH${attemptsText(memory)}.`, [
        'The agent joins, and the Node becomes Ready.',
      ]);
    case 'back off':
      if (decision.reason === 'no login')
        return decisionText(
          'The manager could not get the login of its Mac.',
          [`It asks Scaleway again in ${age(decision.forMs)}, or when the Secret of the machine changes.`],
          [
            'The condition Bootstrapped has the error.',
            'If Scaleway has no password: add it to the Secret of the machine.',
          ],
        );
      return decisionText(
        decision.reason === 'reboot'
          ? `The Mac reboots; the manager tries again in at most ${age(decision.forMs)}.`
          : `The preparation failed${attemptsText(memory)}; the manager tries again in ${age(decision.forMs)}.`,
        ['After some failures the manager reboots the Mac once, and later releases it for another one.'],
        ['The condition Bootstrapped has the error.'],
      );
    case 'reboot':
      return decisionText(`The preparation failed${attemptsText(memory)}, so the manager reboots the Mac once.`, [
        'Then it tries again.',
      ]);
    case 'release failed host':
      return decisionText(
        `The preparation failed too often${attemptsText(memory)}: the manager releases the Mac, which is wiped.`,
        ['The machine claims another one.'],
        ['The condition Bootstrapped has the error. If a Mac fails for every machine, contact Scaleway.'],
      );
    case 'retire token':
      return decisionText('The manager deletes the join token of the Mac, which is not needed any more.', [byItself]);
    case 're-register':
      return decisionText(
        `The manager restarts the agent, which registers the Node again. ${decision.reason}`,
        ['The Node comes back within minutes.'],
        ['If not: run tartan doctor with the address of the Mac.'],
      );
    case 'roll back':
      return decisionText(
        'The Mac did not become Ready after the update: the manager rolls the agent back.',
        ['The rollout of its fleet has stopped.'],
        [`tartan roll status ${context.fleet} shows why.`],
      );
    case 'clear refusal':
      return decisionText('The manager forgets an earlier rejection of an update.', [
        'The machine gets a turn of its fleet again.',
      ]);
    case 'uncordon':
      return decisionText('The manager uncordons the Node, which was cordoned for a rollout.', [byItself]);
    case 'roll':
      return decisionText(
        `The machine has a turn: the manager updates its Mac${decision.idle ? '' : ', except for steps that would stop virtual machines'}.`,
        ['The machine must become Ready again in time, or the rollout of its fleet stops.'],
      );
    case 'wait':
      return restText(decision.drift, decision.forMs, context);
  }
};

const attemptsText = (status: MachineStatus): string => {
  const failures = failuresOf(status, 'Bootstrap');
  return failures === 0 ? '' : ` (${failures === 1 ? 'one failure' : `${failures} failures`} so far)`;
};

const cleanUpTexts = {
  'no host': 'The machine is being deleted, and has no Mac.',
  released: 'The machine is being deleted; its Mac returns to the pool.',
  skipped: 'The machine is being deleted. The pool for the release is not configured, so the Mac is not released.',
  'host gone': 'The machine is being deleted; Scaleway does not list its Mac any more.',
  'not wiped':
    'The machine is being deleted. Scaleway does not wipe its Mac, which stays in quarantine until it is wiped.',
  abandoned: 'The machine is being deleted. A person has abandoned its Mac, which is not changed.',
} as const;

const restText = (drift: Drift, forMs: number, { fleet, pods }: MachineTextContext): DecisionText => {
  const { reasons } = HostUpToDate;
  switch (drift) {
    case 'up to date':
      return decisionText('Nothing to do: its Mac has the desired configuration.', ['Nothing until an update is due.']);
    case 'not reported':
      return decisionText(
        reasons.NotReported[1],
        ['The manager checks again.'],
        ['Check that the agent runs: the Node has the time of its last report.'],
      );
    case 'no turn':
      return decisionText(
        reasons.WaitingForTurn[1],
        ['The manager updates it when it has a turn.'],
        [`For the progress, and whether the rollout has stopped or is paused: tartan roll status ${fleet}.`],
      );
    case 'waiting for idle':
      return decisionText(
        reasons.WaitingForIdle[1],
        [
          pods.length > 0
            ? `The manager continues when these Pods have ended: ${pods.join(', ')}.`
            : 'The manager continues at the next reconcile.',
        ],
        pods.length > 0 ? ['To continue now: delete these Pods. Their work is lost.'] : [],
      );
    case 'refused':
      return decisionText(
        reasons.RollRejected[1],
        [`The manager tries again in ${age(forMs)} at the latest, or with another revision.`],
        ['The condition HostUpToDate has the error.'],
      );
    case 'pausing':
      return decisionText(`The last attempt was a moment ago; the manager tries again in ${age(forMs)}.`, [byItself]);
    case 'no plan':
      return decisionText(
        'The desired configuration of its Mac is unknown: the manager has not reported it.',
        [byItself],
        ['The condition HostUpToDate has the error.'],
      );
    case 'no key':
      return decisionText('The machine waits for the SSH key of its fleet.', [byItself]);
  }
};

/** What the manager does next with a Mac. Undefined: it only reports its state. */
export const hostDecisionText = (decision: HostDecision): DecisionText | undefined => {
  switch (decision.kind) {
    case 'report':
      return undefined;
    case 'read server':
      return decisionText('The manager reads the server from Scaleway.', ['Then it decides again.']);
    case 'read holder':
      return decisionText('The manager reads the machine that holds the Mac.', ['Then it decides again.']);
    case 'delete':
      return decisionText(
        'Scaleway does not list the server any more, and no machine needs it: the manager deletes its MacHost.',
      );
    case 'give up':
      return decisionText(
        `The name at Scaleway is ${decision.name}: another cluster or a person uses the Mac. The manager gives up its claim or release, and wipes nothing.`,
        ['Its machine, if any, claims another Mac.'],
        ['Find out who uses the Mac. To return it, give it a name of the pool at Scaleway.'],
      );
    case 'record name':
      return decisionText('The Mac has the name of its machine, and another cluster might still rename it.', [
        'When the name has not changed for a while, the manager prepares the Mac.',
      ]);
    case 'rename':
      return decisionText(`The manager renames the Mac to ${decision.to} at Scaleway.`, [
        decision.why === 'held'
          ? 'Then it prepares the Mac.'
          : decision.why === 'wiped'
            ? 'Then the Mac is free to claim.'
            : 'Then the Mac is wiped.',
      ]);
    case 'request wipe':
      return decisionText(
        `The manager requests a reinstall at Scaleway (attempt ${decision.wipe.attempts ?? 1})${decision.quarantine ? '; the Mac stays in quarantine afterwards' : ''}.`,
        ['After the reinstall, the manager renames the Mac and returns it to the pool.'],
      );
    case 'record wipe start':
      return decisionText('Scaleway is reinstalling the Mac.', ['Then the manager returns it to the pool.']);
    case 'record wipe end':
      return decisionText('The Mac is wiped: its old host key is discarded.', [
        'Then the manager returns it to the pool.',
      ]);
    case 'quarantine':
      return decisionText(
        'Scaleway has not wiped the Mac for an hour or longer. The manager tries again every two hours.',
        ['Its machine, if it is being deleted, does not wait for the wipe.'],
        [
          decision.quarantine?.reason ?? 'The condition Wiped has the cause.',
          `To exclude the Mac: kubectl annotate machost ID ${annotations.abandon}=REASON`,
        ],
      );
    case 'return to pool':
      return decisionText('The Mac is wiped and has a name of the pool: it is free to claim.');
    case 'reinstall':
      return decisionText(
        `A machine waits for ${decision.family}: the manager has the Mac wiped and reinstalled with it.`,
        ['Then the machine claims it.'],
      );
    case 'cordon':
      return decisionText(
        `The Mac has no machine, but its agent runs: the manager cordons the Node ${decision.nodes.join(', ')}.`,
      );
    case 'reboot':
      return decisionText('The manager requests a reboot at Scaleway, once.', ['Then it continues with the machine.']);
  }
};
