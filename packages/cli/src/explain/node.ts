import { labels } from '@tartan/api';
import { isMacNode, joinMacs } from '../world/join.ts';
import { agentOf, isCordoned, readinessOf, vmsAmong } from '../world/node-facts.ts';
import type { Node } from '../world/observe.ts';
import type { Story } from './document.ts';
import type { ExplainWorld } from './explain-world.ts';
import { explainMachine } from './machine.ts';

/** A Node is what its machine made of its Mac: where there is one, that is the story. */
export const explainNode = (node: Node, world: ExplainWorld): Story => {
  const { metadata, spec } = node;
  const mac = joinMacs(world).find((each) => each.node?.metadata.uid === metadata.uid);
  const ready = readinessOf(node);
  const subject = { kind: 'node' as const, namespace: null, name: metadata.name };
  const conditions = (node.status?.conditions ?? []).map((each) => ({
    type: each.type,
    status: each.status,
    reason: each.reason ?? '',
    means: null,
    message: each.message ?? '',
    since: each.lastTransitionTime ?? '',
  }));
  const word = ready === 'True' ? 'Ready' : ready === 'False' ? 'not Ready' : 'not heard of';
  const where = `The Node ${metadata.name} is ${word}${isCordoned(node) ? ' and takes no Pods' : ''}.`;
  const pods = vmsAmong(mac?.pods ?? []).map((pod) => `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`);
  if (mac?.machine !== undefined) {
    const story = explainMachine(mac.machine, world);
    return {
      ...story,
      subject,
      where: `${where} ${story.where}`,
      conditions: [...conditions, ...story.conditions],
      about: [metadata.uid, ...story.about],
    };
  }
  const isMac = isMacNode(node);
  return {
    subject,
    where,
    decision: {
      word: isMac ? 'no machine' : 'no Mac',
      text: isMac
        ? 'It is the Node of a Mac, but no machine has it: its machine was deleted, or it belongs to another manager.'
        : `It is no Mac of Tartan: it has no label ${labels.runtime}.`,
      from: 'computed',
    },
    facts: [
      { what: 'providerID', is: spec?.providerID ?? 'none' },
      { what: 'agent', is: agentOf(node) ?? 'unknown' },
      ...(pods.length > 0 ? [{ what: 'virtual machines', is: pods.join(', ') }] : []),
    ],
    next: isMac ? ['Nobody looks after it. An agent that still runs keeps it alive.'] : [],
    remedies: isMac
      ? [`See where its Mac is (tartan fleet); if that is gone: kubectl delete node ${metadata.name}.`]
      : [],
    unseen: [],
    conditions,
    about: [metadata.uid],
  };
};
