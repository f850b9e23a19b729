/** A kind that uses every feature of a definition. */
export const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.demo.tartan.dev}
spec:
  group: demo.tartan.dev
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wg], categories: [demo]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}
    additionalPrinterColumns:
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Colour, type: string, jsonPath: .spec.colour, priority: 1, description: What it looks like}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    selectableFields: [{jsonPath: .spec.colour}]
    schema:
      openAPIV3Schema:
        type: object
        description: A widget is a thing to count.
        required: [spec]
        properties:
          spec:
            type: object
            description: What is wanted.
            required: [colour]
            x-kubernetes-validations:
            - {rule: 'self.replicas <= 10 || self.colour == "grey"', message: only grey widgets come in numbers}
            properties:
              replicas: {type: integer, format: int32, minimum: 0, default: 1, description: How many.}
              colour: {type: string, enum: [red, green, grey], description: Which colour.}
              serial: {type: string, maxLength: 8, pattern: '^[A-Z0-9]+$', x-kubernetes-validations: [{rule: self == oldSelf, message: the serial number is for ever}]}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, count: {type: integer}}}
              size: {x-kubernetes-int-or-string: true}
          status:
            type: object
            properties:
              replicas: {type: integer}
              selector: {type: string}
              conditions:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items:
                  type: object
                  required: [type, status]
                  properties: {type: {type: string}, status: {type: string}, reason: {type: string}, message: {type: string}}
`;

export const widget = (name: string, spec: string): string =>
  `apiVersion: demo.tartan.dev/v1\nkind: Widget\nmetadata: {name: ${name}, labels: {kind: ${name}}}\nspec: ${spec}\n`;
