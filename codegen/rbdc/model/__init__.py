"""Reading of descriptions into a validated kinematic tree."""

from rbdc.model.attachments import Cluster as Cluster
from rbdc.model.attachments import Contact as Contact
from rbdc.model.attachments import ContactKind as ContactKind
from rbdc.model.attachments import Frame as Frame
from rbdc.model.description import Description as Description
from rbdc.model.description import DriveTerm as DriveTerm
from rbdc.model.description import Effect as Effect
from rbdc.model.description import Joint as Joint
from rbdc.model.description import Limits as Limits
from rbdc.model.description import Link as Link
from rbdc.model.description import Mimic as Mimic
from rbdc.model.description import Note as Note
from rbdc.model.joints.coupling import Coupling as Coupling
from rbdc.model.tree import WORLD as WORLD
from rbdc.model.tree import Body as Body
from rbdc.model.tree import Model as Model
