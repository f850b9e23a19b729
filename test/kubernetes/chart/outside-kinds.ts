/** Foreign kinds that the chart can create. Only enough to accept an object; without their real schemas. */

const definition = (group: string, kind: string, version: string) => {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              required: ['spec'],
              properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
            },
          },
        },
      ],
    },
  };
};

export const outsideKinds = [
  definition('external-secrets.io', 'ExternalSecret', 'v1'),
  definition('monitoring.coreos.com', 'PrometheusRule', 'v1'),
  definition('monitoring.coreos.com', 'ServiceMonitor', 'v1'),
];
