import type { KubectlScript } from '../script.ts';

const event = (name: string, type: string, reason: string, note: string): string => `
apiVersion: v1
kind: Event
metadata: {name: ${name}}
involvedObject: {apiVersion: v1, kind: ConfigMap, name: subject, namespace: events, uid: $UID}
type: ${type}
reason: ${reason}
message: ${note}
source: {component: teller}
count: 2
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:01Z"
`;

const newEvent = `
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: modern}
eventTime: "2026-01-01T00:00:02.000000Z"
reportingController: example.com/teller
reportingInstance: teller-1
action: Telling
type: Normal
reason: Told
note: in the new form
regarding: {apiVersion: v1, kind: ConfigMap, name: subject, namespace: events}
`;

export const events: KubectlScript = {
  title: 'events',
  namespace: 'events',
  steps: [
    'events',
    'create configmap subject',
    { run: "get cm subject -o jsonpath='{.metadata.uid}'", capture: 'UID' },
    { run: 'create -f -', input: event('happened', 'Normal', 'Happened', 'something happened') },
    { run: 'create -f -', input: event('failed', 'Warning', 'Failed', 'something failed') },
    { run: 'create -f -', input: newEvent },
    'get events -o name',
    'get event happened -o yaml',
    'get events.events.k8s.io happened -o yaml',
    'get event modern -o yaml',
    'get events.events.k8s.io modern -o yaml',
    'get events --field-selector type=Warning -o name',
    'get events --field-selector involvedObject.name=subject,reason=Happened -o name',
    'get events.events.k8s.io --field-selector regarding.name=subject -o name',
    'get events --field-selector nothing=1',
    'get events -o custom-columns=R:.reason,O:.involvedObject.name,S:.source.component',
    'get events',
    'get events -o wide',
    'get events.events.k8s.io',
    'events',
    'events --types=Warning',
    'events --for configmap/subject',
    'events --for configmap/nothing',
    'describe cm subject',
    'describe event failed',
    'get events -o jsonpath=\'{range .items[*]}{.reason} {.count} {.message}{"\\n"}{end}\'',
    { run: 'create -f -', input: event('wrong', 'Odd', 'Happened', 'x') },
    { run: 'create -f -', input: newEvent.replace('reportingInstance: teller-1', '').replace('modern', 'wrong') },
    'delete event happened failed modern',
  ],
};
