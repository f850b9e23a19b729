import type { Chapter } from '../script.ts';

/**
 * Only what is allowed: the embedded server lets everybody do everything who is somebody.
 *
 * What was just granted may take a moment to be known: the first question is asked until it is answered with yes.
 */
export const rights: Chapter = {
  title: 'roles, and what they allow',
  namespace: 'access',
  steps: [
    'create role reader --verb=get,list,watch --resource=pods,configmaps',
    'create rolebinding jane --role=reader --user=jane',
    { run: 'auth can-i get pods --as=jane', until: /yes/ },
    'auth can-i list configmaps --as=jane',
    'get cm --as=jane -o name',
    'create serviceaccount robot',
    'create rolebinding robot --role=reader --serviceaccount=access:robot',
    { run: 'auth can-i get pods --as=system:serviceaccount:access:robot', until: /yes/ },
    { run: 'create token robot', capture: 'TOKEN' },
    'get cm --kubeconfig=nobody.kubeconfig --token=$TOKEN -o name',
    'create clusterrole access-nodes --verb=get,list --resource=nodes',
    'create clusterrolebinding access-nodes --clusterrole=access-nodes --group=operators',
    { run: 'auth can-i list nodes --as=olga --as-group=operators', until: /yes/ },
    'get nodes --as=olga --as-group=operators',
    'create rolebinding wrong --role=nothing --user=jane',
  ],
};
