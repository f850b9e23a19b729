import { annotations, conditionsByKind, type MachineStatus } from '@tartan/api';
import { type Drift, failuresOf, type HostDecision, type MachineDecision } from '@tartan/provider/decisions';
import { age } from '../output/age.ts';
import type { DecisionText } from './explanation.ts';

const { Provisioned, HostUpToDate } = conditionsByKind.ScalewayAppleSiliconMachine;

/** What the words need to know beside the decision. */
interface MachineTextContext {
  readonly name: string;
  readonly namespace: string;
  readonly memory: MachineStatus;
  readonly fleet: string;
  readonly pods: readonly string[];
}

const decisionText = (text: string, next: readonly string[] = [], remedies: readonly string[] = []): DecisionText => ({
  text,
  next,
  remedies,
});

const byItself = 'It goes on by itself.';
const poolView = 'See what the pool has: tartan pool.';

/** What the manager does about a machine next, for people. Total: a decision without words does not compile. */
export const machineDecisionText = (decision: MachineDecision, context: MachineTextContext): DecisionText => {
  const { memory, name, namespace } = context;
  const replace = `Delete its Machine to get another Mac: kubectl delete machine -n ${namespace} NAME (the owner of ${name}).`;
  switch (decision.kind) {
    case 'not found':
      return decisionText('There is no such machine any more.');
    case 'ignore':
      return decisionText('It is being deleted, and nothing of Tartan holds it.', [
        'It goes once others have removed their finalizers.',
      ]);
    case 'await runner':
      return decisionText(`It waits for its runner at GitHub. ${decision.message}`, [
        'Its Mac is given back once GitHub does not list the runner any more.',
      ]);
    case 'remove runner':
      return decisionText('Its runner is taken off the list at GitHub.', ['Then its Mac is given back.']);
    case 'release':
      return decisionText(`Its Mac is given back: wiped, then put into the pool ${decision.poolPrefix}.`, [
        'The Mac is renamed and reinstalled; when the disk is being erased, what belongs to the machine is deleted.',
      ]);
    case 'await wipe':
      return decisionText(
        `It waits until its Mac is seen being erased. ${decision.message}`,
        [byItself],
        ['If Scaleway does not reinstall it, look at the server there; explain its MacHost.'],
      );
    case 'clean up':
      return decisionText(cleanUpTexts[decision.because], [
        'Its Secret, its identity and its Node are deleted, then the machine is gone.',
      ]);
    case 'add finalizer':
      return decisionText(
        'No manager has looked at it yet.',
        ['A manager marks it as its own, then claims a Mac.'],
        ['If this does not change within a minute: does the manager run (tartan version), and what does it log?'],
      );
    case 'block move':
      return decisionText('It is marked so that clusterctl move does not take it.', [byItself]);
    case 'pause':
      return decisionText(
        `Nothing is done: ${decision.why}.`,
        ['Nothing, until that is taken away.'],
        ['Take the pause away when whoever set it agrees.'],
      );
    case 'await cluster':
      return decisionText(
        `It waits for Cluster API. ${decision.message}`,
        ['It claims a Mac as soon as that is so.'],
        [`Look at the cluster: kubectl get clusters,machines -n ${namespace}.`],
      );
    case 'refuse':
      return decisionText(
        `It gets neither a Mac nor the identity of a Node. ${decision.message}`,
        ['It goes on as soon as that is mended.'],
        [Provisioned.reasons[decision.reason][1]],
      );
    case 'cannot claim':
      return decisionText(
        `It has no Mac. ${decision.message ?? Provisioned.reasons[decision.reason][1]}`,
        decision.reason === 'NoAvailableHost' ? ['It is tried again whenever the pool changes.'] : [],
        decision.reason === 'NoAvailableHost'
          ? [
              poolView,
              'Order a Mac at Scaleway and give it a name of the pool, or delete a machine that is not needed.',
            ]
          : [Provisioned.reasons[decision.reason][1]],
      );
    case 'await key':
      return decisionText(
        `It waits for the SSH key of its fleet. ${decision.message}`,
        [byItself],
        ['Look whether the key of Scaleway may register SSH keys: the message says what it refused.'],
      );
    case 'reserve':
      return decisionText(`A Mac is free for it: ${decision.serverID} is reserved next.`, [
        'Then it is taken, renamed, and made ready over SSH.',
      ]);
    case 'take':
      return decisionText('It takes the Mac that it has reserved.', ['The Mac is renamed and made ready over SSH.']);
    case 'await host':
      return decisionText(
        `It waits for its Mac. ${decision.message}`,
        [byItself],
        ['Explain its MacHost, if this lasts.'],
      );
    case 'detach host':
      return decisionText(`Its Mac is not its own any more. ${decision.message}`, ['Another one is claimed.']);
    case 'lost host':
      return decisionText(
        `Its Mac is lost. ${decision.message}`,
        ['Nothing: a machine that was made ready keeps its server for ever.'],
        [replace],
      );
    case 'fetch credentials':
      return decisionText(
        'Scaleway is asked for the login of its Mac.',
        ['Then the Mac is made ready over SSH.'],
        ['If nobody knows a password any more, put it into the Secret of the machine.'],
      );
    case 'set provider id':
      return decisionText('Its Mac is written down as its own for ever: spec.providerID.', [
        'Then it is made ready over SSH.',
      ]);
    case 'bootstrap':
      return decisionText(`Its Mac is made ready over SSH${attemptsText(memory)}.`, [
        'Its agent joins, and the Node becomes Ready.',
      ]);
    case 'back off':
      return decisionText(
        decision.because === 'reboot'
          ? `Its Mac restarts; it is tried again in at most ${age(decision.forMs)}.`
          : `Making it ready did not work${attemptsText(memory)}; it is tried again in ${age(decision.forMs)}.`,
        ['After some failures the Mac is restarted once, and later given back for another one.'],
        ['The condition Bootstrapped says what failed.'],
      );
    case 'reboot':
      return decisionText(`Making it ready failed${attemptsText(memory)}, so the Mac is restarted, once.`, [
        'Then it is tried again.',
      ]);
    case 'release failed host':
      return decisionText(
        `Making it ready failed too often${attemptsText(memory)}: the Mac goes back to be wiped.`,
        ['Another one is claimed.'],
        ['The condition Bootstrapped says what failed; a Mac that fails everywhere is for Scaleway to look at.'],
      );
    case 'retire token':
      return decisionText('The token with which the Mac joined is deleted: it has done its work.', [byItself]);
    case 're-register':
      return decisionText(
        `Its agent is told to register its Node again. ${decision.because}`,
        ['The Node comes back within minutes.'],
        [`If it does not: tartan doctor on its address shows what is wrong with the Mac.`],
      );
    case 'roll back':
      return decisionText(
        'What was rolled onto it did not become Ready: what it had before is put back.',
        ['The roll of its fleet has stopped.'],
        [`tartan roll status ${context.fleet} says why.`],
      );
    case 'clear refusal':
      return decisionText('It refused something once, which does not count any more.', [
        'It gets a turn of its fleet again.',
      ]);
    case 'uncordon':
      return decisionText('It is opened for Pods again: its cordon serves no roll any more.', [byItself]);
    case 'roll':
      return decisionText(
        `It has a turn: what it shall have is sent to its Mac${decision.idle ? ', which is idle' : ', as far as that goes beside virtual machines'}.`,
        ['It must become Ready again in time, or the roll of its fleet stops.'],
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
  'no host': 'It is being deleted, and has no Mac.',
  released: 'It is being deleted; its Mac is on its way back to the pool.',
  skipped: 'It is being deleted. Nobody said which pool its Mac goes back to, so the Mac stays as it is.',
  'host gone': 'It is being deleted; Scaleway does not know its Mac any more.',
  'not wiped':
    'It is being deleted. Scaleway does not wipe its Mac, so the machine goes and the Mac stays in quarantine until it is wiped.',
  abandoned: 'It is being deleted. A person has abandoned its Mac, which stays as it is.',
} as const;

const restText = (drift: Drift, forMs: number, { fleet, pods }: MachineTextContext): DecisionText => {
  const said = HostUpToDate.reasons;
  switch (drift) {
    case 'up to date':
      return decisionText('Nothing is to be done: its Mac has what it shall have.', [
        'It stays so until something new is wanted.',
      ]);
    case 'not reported':
      return decisionText(
        said.NotReported[1],
        ['It is looked at again.'],
        ['Is the agent up? The Node says when it was heard of last.'],
      );
    case 'no turn':
      return decisionText(
        said.WaitingForTurn[1],
        ['It is rolled when it has one.'],
        [`How far the roll is, and whether it has stopped or is paused: tartan roll status ${fleet}.`],
      );
    case 'waiting for idle':
      return decisionText(
        said.WaitingForIdle[1],
        [pods.length > 0 ? `It goes on when these have ended: ${pods.join(', ')}.` : 'It goes on at the next look.'],
        pods.length > 0 ? ['To hurry: delete these Pods, if what they do may be lost.'] : [],
      );
    case 'refused':
      return decisionText(
        said.RollRejected[1],
        [`It is tried again in ${age(forMs)} at the latest, or with another revision.`],
        ['The condition HostUpToDate says what it refused.'],
      );
    case 'pausing':
      return decisionText(`Something was tried a moment ago; it is tried again in ${age(forMs)}.`, [byItself]);
    case 'no plan':
      return decisionText(
        'It is not known what its Mac shall have: the manager has not written it down.',
        [byItself],
        ['The condition HostUpToDate says what is missing.'],
      );
    case 'no key':
      return decisionText('It waits for the SSH key of its fleet.', [byItself]);
  }
};

/** What the manager does about a Mac next, for people; undefined: nothing but to say what is. */
export const hostDecisionText = (decision: HostDecision): DecisionText | undefined => {
  switch (decision.kind) {
    case 'report':
      return undefined;
    case 'read server':
      return decisionText('Scaleway is asked for this server.', ['Then it is decided anew.']);
    case 'read holder':
      return decisionText('The machine that holds it is looked for.', ['Then it is decided anew.']);
    case 'delete':
      return decisionText(
        'Scaleway does not know the server any more, and nobody counts on it: its MacHost is deleted.',
      );
    case 'give up':
      return decisionText(
        `It is called ${decision.name} at Scaleway: another cluster or a person has it. Its claim or release is given up, and nothing is wiped.`,
        ['Its machine, if it has one, takes another Mac.'],
        ['Look at who uses it; to give it back, rename it to a name of the pool at Scaleway.'],
      );
    case 'record name':
      return decisionText('It has the name of its machine, and another cluster might still rename it.', [
        'When the name has stood for a moment, its machine makes it ready.',
      ]);
    case 'rename':
      return decisionText(`It is renamed to ${decision.to} at Scaleway.`, [
        decision.why === 'held'
          ? 'Then its machine makes it ready.'
          : decision.why === 'wiped'
            ? 'Then it is free to claim.'
            : 'Then it is wiped.',
      ]);
    case 'request wipe':
      return decisionText(
        `Scaleway is asked to reinstall it (attempt ${decision.wipe.attempts ?? 1})${decision.quarantine ? ', and nobody may claim it for a while afterwards' : ''}.`,
        ['When Scaleway is seen reinstalling and ready again, it gets a name of the pool.'],
      );
    case 'record wipe start':
      return decisionText('Scaleway is reinstalling it.', ['When that is done, it gets a name of the pool.']);
    case 'record wipe end':
      return decisionText('It is wiped: the old host key counts no more.', ['It gets a name of the pool.']);
    case 'quarantine':
      return decisionText(
        'It could not be wiped for an hour or longer. It is tried all the same, every two hours.',
        ['Its machine, if it is being deleted, goes.'],
        [
          decision.quarantine?.reason ?? 'The condition Wiped says why.',
          `To have it left alone: kubectl annotate machost ID ${annotations.abandon}=REASON`,
        ],
      );
    case 'return to pool':
      return decisionText('It is wiped and bears the name of the pool: it is free to claim.');
    case 'reinstall':
      return decisionText(`A machine waits for ${decision.family}, so it is wiped and reinstalled with that.`, [
        'Then the machine claims it.',
      ]);
    case 'cordon':
      return decisionText(`It has no machine, and its agent lives: its Node ${decision.nodes.join(', ')} is cordoned.`);
    case 'reboot':
      return decisionText('Scaleway is asked to restart it, once.', ['Its machine goes on when it is back.']);
  }
};
