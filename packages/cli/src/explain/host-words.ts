import { annotations } from '@tartan/api';
import type { HostDecision } from '@tartan/provider/decisions';
import type { Words } from './document.ts';

const words = (text: string, next: readonly string[] = [], remedies: readonly string[] = []): Words => ({
  text,
  next,
  remedies,
});

/** What the manager does about a Mac next, for people; undefined: nothing but to say what is. */
export const hostWords = (decision: HostDecision): Words | undefined => {
  switch (decision.kind) {
    case 'report':
      return undefined;
    case 'look':
      return words('Scaleway is asked for this server.', ['Then it is decided anew.']);
    case 'find holder':
      return words('The machine that holds it is looked for.', ['Then it is decided anew.']);
    case 'forget':
      return words('Scaleway does not know the server any more, and nobody counts on it: its MacHost is deleted.');
    case 'let go':
      return words(
        `It is called ${decision.name} at Scaleway: another cluster or a person has it. Its claim or release is given up, and nothing is wiped.`,
        ['Its machine, if it has one, takes another Mac.'],
        ['Look at who uses it; to give it back, rename it to a name of the pool at Scaleway.'],
      );
    case 'note name':
      return words('It has the name of its machine, and another cluster might still rename it.', [
        'When the name has stood for a moment, its machine makes it ready.',
      ]);
    case 'rename':
      return words(`It is renamed to ${decision.to} at Scaleway.`, [
        decision.why === 'held'
          ? 'Then its machine makes it ready.'
          : decision.why === 'wiped'
            ? 'Then it is free to claim.'
            : 'Then it is wiped.',
      ]);
    case 'request wipe':
      return words(
        `Scaleway is asked to reinstall it (attempt ${decision.wipe.attempts ?? 1})${decision.quarantine ? ', and nobody may claim it for a while afterwards' : ''}.`,
        ['When Scaleway is seen reinstalling and ready again, it gets a name of the pool.'],
      );
    case 'wipe begun':
      return words('Scaleway is reinstalling it.', ['When that is done, it gets a name of the pool.']);
    case 'wipe done':
      return words('It is wiped: the old host key counts no more.', ['It gets a name of the pool.']);
    case 'quarantine':
      return words(
        'It could not be wiped for an hour or longer. It is tried all the same, every two hours.',
        ['Its machine, if it is being deleted, goes.'],
        [
          decision.quarantine?.reason ?? 'The condition Wiped says why.',
          `To have it left alone: kubectl annotate machost ID ${annotations.abandon}=REASON`,
        ],
      );
    case 'return to pool':
      return words('It is wiped and bears the name of the pool: it is free to claim.');
    case 'reinstall':
      return words(`A machine waits for ${decision.family}, so it is wiped and reinstalled with that.`, [
        'Then the machine claims it.',
      ]);
    case 'cordon':
      return words(`It has no machine, and its agent lives: its Node ${decision.nodes.join(', ')} is cordoned.`);
    case 'reboot':
      return words('Scaleway is asked to restart it, once.', ['Its machine goes on when it is back.']);
  }
};
