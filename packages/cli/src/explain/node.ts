import { labels } from '@tartan/api';
import { keyOf } from '@tartan/kube';
import { agentOf, isCordoned, isMacNode, joinMacs, readinessText, vmPods } from '../cluster/macs.ts';
import type { Node } from '../cluster/state.ts';
import { coreConditions, definedFacts, type ExplainInput, type Explanation } from './explanation.ts';
import { explainMachine } from './machine.ts';

/** Explains the machine of the Node, if it has one. */
export const explainNode = (node: Node, input: ExplainInput): Explanation => {
  const { metadata, spec } = node;
  const mac = joinMacs(input).find((each) => each.node?.metadata.uid === metadata.uid);
  const conditions = coreConditions(node.status?.conditions);
  const where = `The Node ${metadata.name} is ${readinessText(node)}${isCordoned(node) ? ' and cordoned' : ''}.`;
  if (mac?.machine !== undefined) {
    const explanation = explainMachine(mac.machine, input);
    return {
      ...explanation,
      where: `${where} ${explanation.where}`,
      conditions: [...conditions, ...explanation.conditions],
      relatedUIDs: [mac.machine.metadata.uid, ...(explanation.relatedUIDs ?? [])],
    };
  }
  const isMac = isMacNode(node);
  const pods = vmPods(mac?.pods ?? []).map((pod) => keyOf(pod.metadata));
  return {
    where,
    decision: {
      word: isMac ? 'no machine' : 'no Mac',
      text: isMac
        ? 'The Node of a Mac without a machine: the machine was deleted, or another manager owns it.'
        : `Not a Mac of Tartan: the Node has no label ${labels.runtime}.`,
      from: 'computed',
    },
    facts: definedFacts({
      providerID: spec?.providerID ?? 'none',
      agent: agentOf(node) ?? 'unknown',
      'virtual machines': pods.length > 0 ? pods.join(', ') : undefined,
    }),
    next: isMac ? ['No controller manages the Node. It stays while an agent reports it.'] : [],
    remedies: isMac
      ? [`Find its Mac with tartan fleet. If the Mac is gone: kubectl delete node ${metadata.name}.`]
      : [],
    unseen: [],
    conditions,
  };
};
