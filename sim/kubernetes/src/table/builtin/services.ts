import { ageColumn, ageOf, column, type Columns, nameColumn, nameOf, wide } from '../columns.ts';
import { count, fields, list, or, text, texts } from '../fields.ts';

const balancers = (service: unknown): string[] => {
  const found = list(service, 'status', 'loadBalancer', 'ingress').map((ingress) =>
    or(text(ingress, 'ip'), text(ingress, 'hostname')),
  );
  return [...new Set(found)].filter((address) => address !== '').sort();
};

const externalIP = (service: unknown): string => {
  const external = texts(service, 'spec', 'externalIPs');
  switch (text(service, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return or(external.join(','), '<none>');
    case 'LoadBalancer':
      return or([...balancers(service), ...external].join(','), '<pending>');
    case 'ExternalName':
      return text(service, 'spec', 'externalName');
    default:
      return '<unknown>';
  }
};

const ports = (service: unknown): string =>
  list(service, 'spec', 'ports')
    .map((port) => {
      const nodePort = count(port, 'nodePort');
      const number = nodePort > 0 ? `${count(port, 'port')}:${nodePort}` : `${count(port, 'port')}`;
      return `${number}/${text(port, 'protocol')}`;
    })
    .join(',');

const selector = (service: unknown): string => {
  const labels = fields(service, 'spec', 'selector');
  return Object.keys(labels)
    .sort()
    .map((key) => `${key}=${text(labels, key)}`)
    .join(',');
};

export const services: Columns = {
  definitions: [
    nameColumn,
    column('Type'),
    column('Cluster-IP'),
    column('External-IP'),
    column('Port(s)'),
    ageColumn,
    wide('Selector'),
  ],
  cells: (service, now) => [
    nameOf(service),
    text(service, 'spec', 'type'),
    texts(service, 'spec', 'clusterIPs')[0] ?? '<none>',
    externalIP(service),
    or(ports(service), '<none>'),
    ageOf(service, now),
    or(selector(service), '<none>'),
  ],
};
