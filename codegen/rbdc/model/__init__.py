"""Robot descriptions, and models: the validated kinematic trees of descriptions."""

from rbdc.model.bodies import WORLD as WORLD
from rbdc.model.bodies import Body as Body
from rbdc.model.bodies import Cluster as Cluster
from rbdc.model.bodies import Contact as Contact
from rbdc.model.bodies import ContactKind as ContactKind
from rbdc.model.bodies import Frame as Frame
from rbdc.model.description import Description as Description
from rbdc.model.description import DriveTerm as DriveTerm
from rbdc.model.description import Effect as Effect
from rbdc.model.description import Joint as Joint
from rbdc.model.description import Limits as Limits
from rbdc.model.description import Link as Link
from rbdc.model.description import Mimic as Mimic
from rbdc.model.description import Note as Note
from rbdc.model.joints.coupling import Coupling as Coupling
from rbdc.model.problem import Problem as Problem
from rbdc.model.tree import Model as Model
